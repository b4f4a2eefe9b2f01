// The HTTP address of a server.
#pragma once

#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::net {

struct Url {
  bool tls = true;
  std::string host{};  // lower case; an IPv6 address without its brackets
  std::string port{};
  std::string target{};  // path and query, `/` at least

  // `InvalidInput`: it is no `http` or `https` URL, or it holds credentials, which would appear in
  // process lists and logs.
  static Result<Url> parse(std::string_view text);
  // Resolves an address that this server names. `Conflict`: it is at another server.
  Result<Url> followed(std::string_view location) const;

  bool is_loopback() const;       // by its name or address
  std::string authority() const;  // as in a `Host` header
  std::string text() const;       // without its query, which may hold a secret

  bool operator==(const Url&) const = default;
};

}  // namespace sallyport::net
