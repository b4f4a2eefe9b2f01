#include "oauth/discovery.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "base/visible_text.h"
#include "oauth/exchange.h"

namespace sallyport::oauth {

namespace {

// The document at the first of these addresses that has one. No value: none has.
Task<std::optional<std::string>> first_document(std::vector<std::string> places, net::Url from,
                                                bool allow_plain) {
  for (const std::string& place : places) {
    SALLYPORT_CO_TRY(const Destination to, reachable(place, from, allow_plain));
    SALLYPORT_CO_TRY(Response answer, co_await get_json(to));
    if (answer.status == 200) co_return std::move(answer.body);
    if (answer.status >= 500) {
      co_return fail(ErrorCode::Unavailable,
                     fmt::format("`{}` answers with HTTP {}", to.url.text(), answer.status));
    }
  }
  co_return std::nullopt;
}

// No value: it has no metadata.
Task<std::optional<ResourceMetadata>> describe_resource(const Application& application,
                                                        const std::string& named) {
  SALLYPORT_CO_TRY(
      const std::optional<std::string> text,
      co_await first_document(
          named.empty() ? resource_metadata_places(application.server) : std::vector{named},
          application.server, application.allow_plain));
  if (!text && !named.empty()) {
    co_return fail(ErrorCode::NotFound, fmt::format("the server says that it is described at `{}`, "
                                                    "but nothing is there",
                                                    visible(named.substr(0, 200))));
  }
  if (!text) co_return std::nullopt;
  SALLYPORT_CO_TRY(ResourceMetadata resource, read_resource_metadata(*text));
  if (!covers(resource.resource, application.server)) {
    co_return fail(
        ErrorCode::Conflict,
        fmt::format("the server describes itself as `{}`, another address; no token is requested",
                    visible(resource.resource.substr(0, 200))));
  }
  co_return resource;
}

ResourceMetadata its_own_authority(const net::Url& server) {
  const std::string origin =
      fmt::format("{}://{}", server.tls ? "https" : "http", server.authority());
  return {.resource = server.text(), .issuers = {origin}};
}

Result<std::string> chosen_issuer(const Application& application,
                                  const ResourceMetadata& resource) {
  if (application.issuer.empty()) return resource.issuers.front();
  if (std::ranges::find(resource.issuers, application.issuer) != resource.issuers.end()) {
    return application.issuer;
  }
  return fail(ErrorCode::Conflict,
              fmt::format("the server takes no tokens of `{}` but of `{}`", application.issuer,
                          visible(resource.issuers.front().substr(0, 200))));
}

Result<void> check_addresses(const Application& application, const ServerMetadata& server) {
  for (const std::string* endpoint : {&server.authorization_endpoint, &server.token_endpoint,
                                      &server.registration_endpoint, &server.revocation_endpoint}) {
    if (endpoint->empty()) continue;
    SALLYPORT_TRY([[maybe_unused]] const Destination to,
                  reachable(*endpoint, application.server, application.allow_plain));
  }
  return {};
}

}  // namespace

Task<std::optional<ServerMetadata>> describe_authority(std::string issuer, net::Url from,
                                                       bool allow_plain) {
  SALLYPORT_CO_TRY(const Destination to, reachable(issuer, from, allow_plain));
  SALLYPORT_CO_TRY(
      const std::optional<std::string> text,
      co_await first_document(server_metadata_places(to.url), std::move(from), allow_plain));
  if (!text) co_return std::nullopt;
  SALLYPORT_CO_TRY(ServerMetadata server, read_server_metadata(*text, issuer));
  co_return server;
}

Task<Authority> discover(const Application& application, Challenge challenge) {
  SALLYPORT_CO_TRY(std::optional<ResourceMetadata> described,
                   co_await describe_resource(application, challenge.resource_metadata));
  const ResourceMetadata resource =
      described ? std::move(*described) : its_own_authority(application.server);
  SALLYPORT_CO_TRY(const std::string issuer, chosen_issuer(application, resource));
  SALLYPORT_CO_TRY(
      std::optional<ServerMetadata> server,
      co_await describe_authority(issuer, application.server, application.allow_plain));
  if (!server) {
    co_return fail(
        ErrorCode::NotFound,
        fmt::format("no authorization server was found: `{}` has no metadata; if you have a "
                    "token, name a variable that holds it with `bearer_env` (`--bearer-env`)",
                    visible(issuer.substr(0, 200))));
  }
  SALLYPORT_CO_CHECK_OK(check_addresses(application, *server));
  co_return Authority{resource.resource, resource.scopes, std::move(*server)};
}

}  // namespace sallyport::oauth
