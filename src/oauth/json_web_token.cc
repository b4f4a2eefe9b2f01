#include "oauth/json_web_token.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "oauth/base64url.h"

namespace sallyport::oauth {

namespace {

constexpr std::size_t kDeepestToken = 16;
constexpr std::size_t kLongestTokenKeyId = 1024;

std::unexpected<Error> no_token(std::string message) {
  return fail(ErrorCode::Unauthenticated, std::move(message));
}

Result<json::object> object_of(std::string_view part) {
  const auto text = from_base64url(part);
  if (text) {
    Result<ParsedJson> parsed =
        parse_json(*text, {.bytes = kMostTokenBytes, .depth = kDeepestToken});
    if (parsed && parsed->value.is_object()) return std::move(parsed->value.get_object());
  }
  return no_token("the token is malformed");
}

// Tokens for other purposes have another `typ` (RFC 8725, section 3.11). Instead of `at+jwt` (RFC
// 9068), many servers write `JWT` or nothing.
bool is_of_access_token(const json::object& head) {
  if (!head.contains("typ")) return true;
  std::string type(text_in(head, "typ").value_or("none"));
  std::ranges::transform(type, type.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return type == "at+jwt" || type == "application/at+jwt" || type == "jwt";
}

Result<void> read_head(const json::object& head, JsonWebToken& out) {
  const auto algorithm = signature_algorithm(text_in(head, "alg").value_or(""));
  if (!algorithm) {
    return no_token("the token is not signed with RS256, PS256, ES256 or EdDSA");
  }
  out.algorithm = *algorithm;
  // No critical extension is supported here.
  if (head.contains("crit")) return no_token("the token has critical extensions");
  if (!is_of_access_token(head)) return no_token("the token is not an access token");
  if (!head.contains("kid")) return {};
  const auto id = text_in(head, "kid");
  if (!id || id->size() > kLongestTokenKeyId) return no_token("the token is malformed");
  out.key_id = std::string(*id);
  return {};
}

}  // namespace

Result<JsonWebToken> JsonWebToken::read(std::string_view text) {
  if (text.size() > kMostTokenBytes) return no_token("the token is too long");
  const std::size_t first = text.find('.');
  const std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return no_token("the token is not known here");
  JsonWebToken out;
  SALLYPORT_TRY(const json::object head, object_of(text.substr(0, first)));
  SALLYPORT_CHECK_OK(read_head(head, out));
  SALLYPORT_TRY(out.claims, object_of(text.substr(first + 1, second - first - 1)));
  const auto signature = from_base64url(text.substr(second + 1));
  if (!signature || signature->empty()) return no_token("the token is malformed");
  out.signature = *signature;
  out.signed_text = std::string(text.substr(0, second));
  return out;
}

}  // namespace sallyport::oauth
