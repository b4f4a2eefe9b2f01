// Tokens of agents and keys of authorization servers are refused or understood. The first line is a
// token, the rest a key set.
#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/try.h"
#include "oauth/access_token.h"
#include "oauth/base64url.h"
#include "oauth/json_web_token.h"

using namespace sallyport;
using namespace sallyport::oauth;

namespace {

void look_at_claims(const json::object& claims) {
  const WallTime now = *from_rfc3339("2026-11-15T12:00:00Z");
  if (check_claims(claims, "https://as", "https://gate/mcp", now)) {
    SALLYPORT_INVARIANT(claims.at("iss") == "https://as" && claims.contains("exp"));
  }
  for (const std::string& scope : scopes_of(claims)) SALLYPORT_INVARIANT(scope.size() < 1 << 20);
  if (const auto agent = agent_claim(claims, {"client_id", "azp", "sub"})) {
    SALLYPORT_INVARIANT(!agent->empty() && agent->find_first_of("\r\n ") == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto bytes = from_base64url(text)) SALLYPORT_INVARIANT(base64url(*bytes) == text);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const auto token = JsonWebToken::read(text.substr(0, end));
  const auto keys = KeySet::read(end < text.size() ? text.substr(end + 1) : text);
  if (token) {
    SALLYPORT_INVARIANT(!token->signature.empty());
    look_at_claims(token->claims);
  }
  if (token && keys) {
    if (const VerifyKey* const key = keys->find(token->algorithm, token->key_id)) {
      (void)key->verifies(token->algorithm, token->signed_text, token->signature);
    }
  }
  const auto claims = parse_json(text, {.bytes = 1 << 16, .depth = 16});
  if (claims && claims->value.is_object()) look_at_claims(claims->value.get_object());
  return 0;
}
