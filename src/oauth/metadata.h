// What tool servers (RFC 9728) and authorization servers (RFC 8414, OpenID Connect Discovery) say
// about themselves, and where they say it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/url.h"
#include "sallyport/result.h"

namespace sallyport::oauth {

inline constexpr std::size_t kMostBytes = 256 * 1024;  // of any document that we read

struct ResourceMetadata {
  std::string resource{};              // as it is written there, which is how it is sent on
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
  std::vector<std::string> client_methods{};  // by which a client says who it is
  std::vector<std::string> scopes{};
  bool has_s256 = false;
  bool names_itself = false;       // in what the browser brings back (RFC 9207)
  bool reads_client_urls = false;  // a client id may be the address of its description
};

// `Corrupt`: it is not such a document.
Result<ResourceMetadata> read_resource_metadata(std::string_view text);
// `Conflict`: it is that of another issuer than was asked for, letter by letter.
Result<ServerMetadata> read_server_metadata(std::string_view text, std::string_view issuer);

// Where to look, in this order.
std::vector<std::string> resource_metadata_places(const net::Url& server);
std::vector<std::string> server_metadata_places(const net::Url& issuer);

// Is this resource the server itself, or what it stands below? A token for anything else is none of
// ours to ask for.
bool covers(std::string_view resource, const net::Url& server);

// An address that we may go to.
struct Destination {
  net::Url url;
  bool allow_plain = false;
};
// What a server at `server` may send us to: TLS, or another program of this machine where the
// server is one as well. `allow_plain`: the person has said that the network between is trusted.
Result<Destination> reachable(std::string_view url, const net::Url& server, bool allow_plain);

}  // namespace sallyport::oauth
