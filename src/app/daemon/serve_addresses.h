// By which names and addresses others reach `sallyport serve`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/config/serve_config.h"
#include "net/server_request.h"

namespace sallyport::app {

// What stands behind `public_url`; nothing where there is none.
std::string public_address(const ServeConfig& config, std::string_view path);

// A value, made once it is known at which port the server listens.
struct ServeAddresses {
  std::string origin{};     // as the server listens
  std::string url{};        // of the tools, if there are any
  std::string models{};     // of the model proxy
  std::string resource{};   // as agents compare it with the address that they were given (RFC 9728)
  std::string console{};    // on this machine a name whose cookies no other port gets
  std::string approvals{};  // where people answer
};
ServeAddresses addresses_of(const ServeConfig& config, std::uint16_t port);

// What a request may name as its host and its origin.
net::HttpNames names_of(const ServeConfig& config, std::uint16_t port);

}  // namespace sallyport::app
