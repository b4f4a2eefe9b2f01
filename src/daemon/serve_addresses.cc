#include "daemon/serve_addresses.h"

#include <fmt/format.h>

#include "daemon/api/approvals_api.h"

namespace sallyport::app {

namespace {

std::string listening_at(const ServeConfig& config, std::uint16_t port) {
  const bool six = config.address.find(':') != std::string::npos;
  return six ? fmt::format("[{}]:{}", config.address, port)
             : fmt::format("{}:{}", config.address, port);
}

// Browsers resolve it to this machine, and keep its cookies from other ports of `localhost`.
std::string cookie_name(std::uint16_t port) {
  return fmt::format("sallyport.localhost:{}", port);
}

}  // namespace

std::string public_address(const ServeConfig& config, std::string_view path) {
  if (config.public_url.empty()) return {};
  std::string_view base = config.public_url;
  while (base.ends_with('/')) base.remove_suffix(1);
  return fmt::format("{}{}", base, path);
}

ServeAddresses addresses_of(const ServeConfig& config, std::uint16_t port) {
  const std::string host = config.has_http() ? listening_at(config, port) : "localhost";
  const std::string origin = fmt::format("{}{}", config.scheme(), host);
  const std::string url = config.has_tools() ? origin + "/mcp" : origin;
  const auto published = [&](std::string_view path, std::string otherwise) {
    return config.public_url.empty() ? std::move(otherwise) : public_address(config, path);
  };
  const std::string approvals = fmt::format("{}/", ApprovalsApi::kPath);
  const bool by_name = config.is_local() && !config.tls;
  return {.origin = origin,
          .url = url,
          .models = origin + "/v1",
          .resource = published("/mcp", url),
          .console = published("/console/", fmt::format("{}{}/console/", config.scheme(),
                                                        by_name ? cookie_name(port) : host)),
          .approvals = published(approvals, origin + approvals)};
}

net::HttpNames names_of(const ServeConfig& config, std::uint16_t port) {
  net::HttpNames names{.origins = config.origins};
  names.hosts.push_back(listening_at(config, port));
  if (config.is_local()) {
    names.hosts.push_back(fmt::format("localhost:{}", port));
    names.hosts.push_back(cookie_name(port));
  }
  const auto own = [&](const std::string& host) {
    names.origins.push_back(fmt::format("{}{}", config.scheme(), host));
  };
  // Our own pages are not foreign. Another host name is ours only if a certificate proves it.
  for (const std::string& host : names.hosts) own(host);
  for (const std::string& host : config.hosts) {
    names.hosts.push_back(host);
    names.hosts.push_back(fmt::format("{}:{}", host, port));
    if (!config.tls) continue;
    own(host);
    own(fmt::format("{}:{}", host, port));
  }
  return names;
}

}  // namespace sallyport::app
