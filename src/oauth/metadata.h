// The metadata of tool servers (RFC 9728) and authorization servers (RFC 8414, OpenID Connect
// Discovery), and where it is found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/url.h"
#include "sallyport/result.h"

namespace sallyport::oauth {

inline constexpr std::size_t kMostBytes = 256 * 1024;  // of any document that we read

struct ResourceMetadata {
  std::string resource{};              // as written there, and sent on unchanged
  std::vector<std::string> issuers{};  // of tokens for it; at least one
  std::vector<std::string> scopes{};
};

struct ServerMetadata {
  std::string issuer{};
  std::string authorization_endpoint{};  // each of these may be empty
  std::string token_endpoint{};
  std::string registration_endpoint{};
  std::string revocation_endpoint{};
  std::string jwks_uri{};
  std::vector<std::string> grants{};
  std::vector<std::string> client_methods{};  // how a client may authenticate
  std::vector<std::string> scopes{};
  bool has_s256 = false;
  bool returns_issuer = false;     // in the redirect (RFC 9207)
  bool reads_client_urls = false;  // a client id may be the address of its description
};

// `Corrupt`: it is not such a document.
Result<ResourceMetadata> read_resource_metadata(std::string_view text);
// `Conflict`: it names another issuer, compared exactly.
Result<ServerMetadata> read_server_metadata(std::string_view text, std::string_view issuer);

// Where to look, in this order.
std::vector<std::string> resource_metadata_places(const net::Url& server);
std::vector<std::string> server_metadata_places(const net::Url& issuer);

// True if this resource is the server itself or above it. We request tokens for nothing else.
bool covers(std::string_view resource, const net::Url& server);

// An address that we may use.
struct Destination {
  net::Url url;
  bool allow_plain = false;
};
// Checks an address that the server at `server` names. It must use TLS, or be on this machine if
// the server is. `allow_plain`: the person trusts the network in between.
Result<Destination> reachable(std::string_view url, const net::Url& server, bool allow_plain);

}  // namespace sallyport::oauth
