#include "oauth/access_token.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <optional>

#include "base/json_members.h"

namespace sallyport::oauth {

namespace {

constexpr std::size_t kLongestAgent = 256;
constexpr double kLastSecond = 253'402'300'799;  // of the year 9999

std::unexpected<Error> unfit(std::string message) {
  return fail(ErrorCode::Unauthenticated, std::move(message));
}

bool is_for(const json::object& claims, std::string_view audience) {
  const json::value* const value = claims.if_contains("aud");
  if (value == nullptr) return false;
  if (value->is_string()) return std::string_view(value->get_string()) == audience;
  return value->is_array() &&
         std::ranges::any_of(value->get_array(), [&](const json::value& element) {
           return element.is_string() && std::string_view(element.get_string()) == audience;
         });
}

// Seconds since 1970, which may have a fraction. No value: it is no time.
std::optional<WallTime> time_in(const json::object& claims, std::string_view name) {
  const json::value* const value = claims.if_contains(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double seconds = value->to_number<double>();
  if (!std::isfinite(seconds) || seconds < 0 || seconds > kLastSecond) return std::nullopt;
  return WallTime{std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6))};
}

void add_words(std::vector<std::string>& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    if (blank > 0) out.emplace_back(text.substr(0, blank));
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
}

bool is_visible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7F; });
}

}  // namespace

Result<void> check_claims(const json::object& claims, std::string_view issuer,
                          std::string_view audience, WallTime now) {
  if (text_in(claims, "iss") != issuer)
    return unfit("the token is of an issuer that is not trusted");
  if (!is_for(claims, audience)) return unfit("the token is for another audience");
  const auto expires = time_in(claims, "exp");
  if (!expires) return unfit("the token does not say when it expires");
  if (now >= *expires + kLeeway) return unfit("the token has expired");
  if (claims.contains("nbf")) {
    const auto begins = time_in(claims, "nbf");
    if (!begins || now + kLeeway < *begins) return unfit("the token is not valid yet");
  }
  // The sender would have to prove possession of a key (RFC 7800), which is not supported here.
  if (claims.contains("cnf"))
    return unfit("the token is bound to a key, and is not a bearer token");
  return {};
}

std::vector<std::string> scopes_of(const json::object& claims) {
  const json::value* value = claims.if_contains("scope");
  if (value == nullptr) value = claims.if_contains("scp");
  std::vector<std::string> out;
  if (value == nullptr) return out;
  if (value->is_string()) add_words(out, value->get_string());
  if (!value->is_array()) return out;
  for (const json::value& word : value->get_array()) {
    if (word.is_string()) out.emplace_back(word.get_string());
  }
  return out;
}

Result<std::string> agent_claim(const json::object& claims, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!claims.contains(name)) continue;
    const std::string_view agent = text_in(claims, name).value_or("");
    if (!agent.empty() && agent.size() <= kLongestAgent && is_visible(agent)) {
      return std::string(agent);
    }
    return unfit("the token names its agent in a way that cannot be recorded");
  }
  return unfit("the token does not say whose it is");
}

}  // namespace sallyport::oauth
