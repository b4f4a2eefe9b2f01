// The names and addresses of `sallyport serve`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/http_names.h"
#include "workspace/config/serve_config.h"

namespace sallyport::app {

// `public_url` with this path; empty if there is no `public_url`.
std::string public_address(const ServeConfig& config, std::string_view path);

// Made when the port of the server is known.
struct ServeAddresses {
  std::string origin{};     // as the server listens
  std::string url{};        // of the tools, if there are any
  std::string models{};     // of the model proxy
  std::string resource{};   // the resource that agents compare with their address (RFC 9728)
  std::string console{};    // on this machine a name whose cookies other ports do not get
  std::string approvals{};  // where people answer
};
ServeAddresses addresses_of(const ServeConfig& config, std::uint16_t port);

// The hosts and origins that a request may name.
net::HttpNames names_of(const ServeConfig& config, std::uint16_t port);

}  // namespace sallyport::app
