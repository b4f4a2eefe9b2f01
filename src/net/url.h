// Where a server is reached over HTTP.
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

  // `InvalidInput` for what is no `http` or `https` URL, and for one that holds credentials: these
  // would stand in process lists and logs.
  static Result<Url> parse(std::string_view text);
  // Of what a server at this place sends us to; nothing it says leads to another server.
  // `Conflict`: it leads there.
  Result<Url> followed(std::string_view location) const;

  bool is_loopback() const;       // by its name or address
  std::string authority() const;  // as in a `Host` header
  std::string text() const;       // without its query, which may hold a secret

  bool operator==(const Url&) const = default;
};

}  // namespace sallyport::net
