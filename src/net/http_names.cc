#include "net/http_names.h"

#include <algorithm>

#include "base/lower_case.h"

namespace sallyport::net {

namespace {

ServerResponse refusal(std::string cause, std::string text) {
  ServerResponse response = ServerResponse::text(403, std::move(text));
  response.cause = std::move(cause);
  return response;
}

}  // namespace

std::optional<ServerResponse> HttpNames::refuse(const ServerRequest& request) const {
  const auto host = request.header("host");
  if (!host) return ServerResponse::text(400, "one `Host` header is needed\n");
  if (!hosts.empty() && std::ranges::find(hosts, lower_case(*host)) == hosts.end()) {
    return refusal("host_not_served", "this host name is not served here\n");
  }
  if (request.count("origin") == 0) return std::nullopt;
  const auto origin = request.header("origin");
  if (!origin || std::ranges::find(origins, lower_case(*origin)) == origins.end()) {
    return refusal("origin_not_served", "pages of this origin are not served here\n");
  }
  return std::nullopt;
}

}  // namespace sallyport::net
