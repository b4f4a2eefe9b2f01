#include "oauth/token_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/try.h"
#include "oauth/client_assertion.h"
#include "oauth/exchange.h"
#include "sallyport/json.h"

namespace sallyport::oauth {

namespace {

constexpr const char* kNone = "none";
constexpr const char* kBasic = "client_secret_basic";
constexpr const char* kPost = "client_secret_post";
constexpr const char* kSigned = "private_key_jwt";

bool takes(const ServerMetadata& server, std::string_view method) {
  return std::ranges::find(server.client_methods, method) != server.client_methods.end();
}

// Adds our client's authentication to the fields and headers of a request.
Result<net::HttpHeaders> authenticate(const Application& application, const Account& account,
                                      Fields& fields, WallTime now, Entropy& entropy) {
  const Client& client = account.client;
  if (client.method == kBasic) {
    const std::string pair = percent_encoded(client.id) + ':' + percent_encoded(client.secret);
    return net::HttpHeaders{{"Authorization", "Basic " + base64(as_bytes(pair))}};
  }
  fields.emplace_back("client_id", client.id);
  if (client.method == kPost) {
    fields.emplace_back("client_secret", client.secret);
  } else if (client.method == kSigned) {
    SALLYPORT_TRY(std::string assertion, client_assertion(application.client_key, client.id,
                                                          account.issuer, now, entropy));
    fields.emplace_back("client_assertion_type",
                        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    fields.emplace_back("client_assertion", std::move(assertion));
  } else if (client.method != kNone) {
    return fail(ErrorCode::Conflict,
                fmt::format("the authorization server wants us to prove who we are by `{:.60}`, "
                            "which is not known here",
                            client.method));
  }
  return net::HttpHeaders{};
}

Result<std::string> method_of(const Application& application, const ServerMetadata& server) {
  if (!application.client_key.empty()) return std::string(kSigned);
  if (application.client_secret.empty()) return std::string(kNone);
  if (takes(server, kBasic)) return std::string(kBasic);
  if (takes(server, kPost)) return std::string(kPost);
  return fail(
      ErrorCode::Conflict,
      fmt::format("the authorization server `{}` takes no secret of a client", server.issuer));
}

}  // namespace

Result<std::optional<Client>> named_client(const Application& application,
                                           const ServerMetadata& server) {
  if (application.client_id.empty()) return std::nullopt;
  const bool described = application.client_id.starts_with("https://");
  if (described && !server.reads_client_urls) return std::nullopt;
  SALLYPORT_TRY(std::string method, method_of(application, server));
  return Client{application.client_id, application.client_secret, std::move(method), {}};
}

Task<Client> register_client(const Application& application, const ServerMetadata& server,
                             std::string redirect_uri, std::string scope) {
  if (server.registration_endpoint.empty()) {
    co_return fail(
        ErrorCode::Conflict,
        fmt::format("the authorization server `{}` does not register clients by itself; register "
                    "a client there, which comes back to http://127.0.0.1/callback, "
                    "and name it with `client_id` (`--client-id`)",
                    server.issuer));
  }
  const std::string method = takes(server, kNone) ? kNone : takes(server, kBasic) ? kBasic : kPost;
  json::object wanted{{"client_name", "Sallyport"},
                      {"application_type", "native"},
                      {"redirect_uris", json::array{redirect_uri}},
                      {"grant_types", json::array{"authorization_code", "refresh_token"}},
                      {"response_types", json::array{"code"}},
                      {"token_endpoint_auth_method", method}};
  if (!scope.empty()) wanted["scope"] = scope;
  SALLYPORT_CO_TRY(const Destination to, reachable(server.registration_endpoint, application.server,
                                                   application.allow_plain));
  SALLYPORT_CO_TRY(const Response answer, co_await post_json(to, json::serialize(wanted)));
  SALLYPORT_CO_TRY(Client client, read_registration(answer.status, answer.body, method));
  client.redirect_uri = std::move(redirect_uri);
  co_return client;
}

Task<Tokens> request_tokens(const Application& application, const Account& account, Fields fields,
                            const Clock& clock, Entropy& entropy) {
  fields.emplace_back("resource", account.resource);
  SALLYPORT_CO_TRY(net::HttpHeaders headers,
                   authenticate(application, account, fields, clock.wall(), entropy));
  SALLYPORT_CO_TRY(const Destination to,
                   reachable(account.token_endpoint, application.server, application.allow_plain));
  SALLYPORT_CO_TRY(const Response answer,
                   co_await post_form(to, std::move(fields), std::move(headers)));
  co_return read_tokens(answer.status, answer.body, clock.wall());
}

Task<bool> revoke_tokens(const Application& application, const Account& account, const Clock& clock,
                         Entropy& entropy) {
  if (account.revocation_endpoint.empty()) co_return false;
  const bool long_lived = !account.tokens.refresh.empty();
  Fields fields{{"token", long_lived ? account.tokens.refresh : account.tokens.access},
                {"token_type_hint", long_lived ? "refresh_token" : "access_token"}};
  SALLYPORT_CO_TRY(net::HttpHeaders headers,
                   authenticate(application, account, fields, clock.wall(), entropy));
  SALLYPORT_CO_TRY(const Destination to, reachable(account.revocation_endpoint, application.server,
                                                   application.allow_plain));
  SALLYPORT_CO_TRY(const Response answer,
                   co_await post_form(to, std::move(fields), std::move(headers)));
  co_return answer.status == 200;
}

}  // namespace sallyport::oauth
