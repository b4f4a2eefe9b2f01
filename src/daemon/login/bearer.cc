#include "daemon/login/bearer.h"

#include <fmt/format.h>

#include "terminal/input.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLongestToken = 16 * 1024;
constexpr std::string_view kOwnHeader = "x-sallyport-token";
constexpr std::string_view kKeyHeader = "x-api-key";

}  // namespace

std::optional<std::string_view> bearer_of(const net::ServerRequest& request) {
  constexpr std::string_view kScheme = "bearer ";
  const auto header = request.header("authorization");
  if (!header || header->size() <= kScheme.size() || header->size() > kLongestToken)
    return std::nullopt;
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = (*header)[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kScheme[i]) {
      return std::nullopt;
    }
  }
  return trimmed(header->substr(kScheme.size()));
}

Result<std::optional<std::string_view>> model_token_of(const net::ServerRequest& request) {
  for (const std::string_view name : {kOwnHeader, std::string_view("authorization"), kKeyHeader}) {
    if (request.count(name) < 2) continue;
    return fail(ErrorCode::Unauthenticated,
                fmt::format("the header `{}` occurs twice; send it once", name));
  }
  std::optional<std::string_view> token = request.header(kOwnHeader);
  if (!token) token = bearer_of(request);
  if (!token) token = request.header(kKeyHeader);
  if (!token || token->size() > kLongestToken || trimmed(*token).empty()) return std::nullopt;
  return trimmed(*token);
}

}  // namespace sallyport::app
