// Which `Host` and `Origin` a server answers, so that foreign pages cannot use it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/server_request.h"

namespace sallyport::net {

// The names by which a browser, or a proxy in front of it, may reach this server. They are compared
// as text: with DNS, a foreign page could reach a server on this machine.
struct HttpNames {
  std::vector<std::string> hosts{};    // `127.0.0.1:8765`, in lower case; empty: any
  std::vector<std::string> origins{};  // `https://console.example.com`

  // The refusal, or nothing.
  std::optional<ServerResponse> refuse(const ServerRequest& request) const;
};

}  // namespace sallyport::net
