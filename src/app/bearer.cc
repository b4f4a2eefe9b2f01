#include "app/bearer.h"

#include "app/input.h"

namespace sallyport::app {

std::optional<std::string_view> bearer_of(const net::ServerRequest& request) {
  constexpr std::size_t kLongest = 16 * 1024;
  constexpr std::string_view kScheme = "bearer ";
  const auto header = request.header("authorization");
  if (!header || header->size() <= kScheme.size() || header->size() > kLongest) return std::nullopt;
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = (*header)[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kScheme[i]) {
      return std::nullopt;
    }
  }
  return trimmed(header->substr(kScheme.size()));
}

}  // namespace sallyport::app
