// Messages of tool servers and authorization servers are refused or understood, and never read past
// their end.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/try.h"
#include "oauth/account.h"
#include "oauth/challenge.h"
#include "oauth/form.h"
#include "oauth/metadata.h"

using namespace sallyport;
using namespace sallyport::oauth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto challenge = bearer_challenge({{"WWW-Authenticate", text}})) {
    SALLYPORT_INVARIANT(challenge->scope.size() + challenge->resource_metadata.size() +
                            challenge->error.size() <=
                        text.size());
  }
  if (const auto fields = read_form(text)) {
    SALLYPORT_INVARIANT(read_form(form_text(*fields)) == fields);
  }
  if (const auto resource = read_resource_metadata(text)) {
    SALLYPORT_INVARIANT(!resource->issuers.empty());
  }
  if (const auto server = read_server_metadata(text, "https://as")) {
    SALLYPORT_INVARIANT(server->issuer == "https://as" && !server->token_endpoint.empty());
  }
  if (const auto tokens = read_tokens(200, text, WallTime{})) {
    SALLYPORT_INVARIANT(!tokens->access.empty() &&
                        tokens->access.find_first_of("\r\n ") == std::string::npos);
  }
  (void)read_registration(201, text, "none");
  const net::Url server = *net::Url::parse("https://h/a/mcp");
  if (const auto to = reachable(text, server, false)) {
    SALLYPORT_INVARIANT(to->url.tls);
    // It becomes part of a request line.
    for (const char c : to->url.authority()) SALLYPORT_INVARIANT(c > ' ' && c < 0x7F);
  }
  if (covers(text, server)) SALLYPORT_INVARIANT(net::Url::parse(text)->host == "h");
  if (const auto account = read_account(text)) {
    const std::string kept = account_text(*account);
    SALLYPORT_INVARIANT(account_text(*read_account(kept)) == kept);
  }
  return 0;
}
