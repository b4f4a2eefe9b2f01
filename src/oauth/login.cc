#include "oauth/login.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <charconv>

#include "base/cut_text.h"
#include "base/digest.h"
#include "base/try.h"
#include "base/visible_text.h"
#include "oauth/base64url.h"
#include "oauth/client_assertion.h"
#include "oauth/redirect.h"

namespace sallyport::oauth {

namespace {

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Requests the configured scope, else the challenged one, else all that the server supports. Keeps
// the scopes of the earlier login. Requests a refresh token only if the server has a scope for it.
std::string scope_for(const Login& login, const Authority& authority, const Challenge& challenge) {
  std::string scope = login.application.scope;
  if (scope.empty()) {
    scope = challenge.scope.empty() ? fmt::format("{}", fmt::join(authority.scopes, " "))
                                    : challenge.scope;
    if (login.before && login.before->issuer == authority.server.issuer) {
      scope = joined_scopes(login.before->scope, scope);
    }
  } else if (challenge.wants_more_scope()) {
    scope = joined_scopes(scope, challenge.scope);
  }
  const bool by_person = !login.application.client_credentials;
  if (!scope.empty() && by_person && has(authority.server.scopes, "offline_access")) {
    scope = joined_scopes(scope, "offline_access");
  }
  return scope;
}

Account account_for(const Login& login, const Authority& authority, std::string scope) {
  return {.server = login.application.server.text(),
          .resource = authority.resource,
          .issuer = authority.server.issuer,
          .token_endpoint = authority.server.token_endpoint,
          .revocation_endpoint = authority.server.revocation_endpoint,
          .scope = std::move(scope)};
}

// A client that was registered by hand belongs to the authority of its first use. If the server
// names another one, the client's secret is not sent there, unless a person has named that issuer.
Result<void> check_binding(const Login& login, const Authority& authority) {
  if (!login.application.issuer.empty()) return {};
  const std::optional<Account>& before = login.before;
  const bool same_client = before && before->client.redirect_uri.empty() &&
                           before->client.id == login.application.client_id &&
                           !before->client.id.starts_with("https://");
  if (!same_client || before->issuer == authority.server.issuer) return {};
  return fail(ErrorCode::Conflict,
              fmt::format("the server now names `{}`, but client `{}` is one of `{}`; if that is "
                          "right, name the new one with `issuer` (`--issuer`), or run `sallyport "
                          "mcp logout` and log "
                          "in with a client of the new one",
                          visible(authority.server.issuer), visible(before->client.id),
                          visible(before->issuer)));
}

Result<void> check_server(const ServerMetadata& server) {
  if (server.authorization_endpoint.empty() || !has(server.grants, "authorization_code")) {
    return fail(ErrorCode::Conflict,
                fmt::format("`{}` has no login with a browser; to log in without a person, use "
                            "`grant: client_credentials` (`--client-credentials`)",
                            server.issuer));
  }
  if (server.has_s256) return {};
  return fail(ErrorCode::Conflict,
              fmt::format("`{}` does not say that it checks PKCE (S256), without which a code "
                          "could be used by others",
                          server.issuer));
}

// The client that we registered before, if at this authority.
const Client* registered_before(const Login& login, const Authority& authority) {
  if (!login.before || login.before->issuer != authority.server.issuer) return nullptr;
  return login.before->client.redirect_uri.empty() ? nullptr : &login.before->client;
}

std::uint16_t port_of(const Client& client) {
  const Result<net::Url> url = net::Url::parse(client.redirect_uri);
  std::uint16_t port = 0;
  if (url) std::from_chars(url->port.data(), url->port.data() + url->port.size(), port);
  return port;
}

// Uses the redirect port of the registered client, if it is free.
Task<std::unique_ptr<Redirect>> open_redirect(const Login& login, const Client* known,
                                              std::string state) {
  const auto executor = co_await boost::asio::this_coro::executor;
  if (login.application.redirect_port != 0) {
    co_return Redirect::open(executor, login.application.redirect_port, state);
  }
  if (known != nullptr) {
    Result<std::unique_ptr<Redirect>> same = Redirect::open(executor, port_of(*known), state);
    if (same) co_return same;
  }
  co_return Redirect::open(executor, 0, std::move(state));
}

std::string authorization_url(const Authority& authority, const Account& account,
                              const std::string& redirect_uri, const std::string& state,
                              const std::string& verifier) {
  Fields fields{{"response_type", "code"},
                {"client_id", account.client.id},
                {"redirect_uri", redirect_uri},
                {"state", state},
                {"code_challenge", base64url(text_of(sha256(verifier)))},
                {"code_challenge_method", "S256"},
                {"resource", account.resource}};
  if (!account.scope.empty()) fields.emplace_back("scope", account.scope);
  const std::string& endpoint = authority.server.authorization_endpoint;
  return endpoint + (endpoint.find('?') == std::string::npos ? '?' : '&') + form_text(fields);
}

// Checks the issuer exactly, so that a code of one server is not sent to another (RFC 9207).
Result<std::string> code_in(const Fields& params, const ServerMetadata& server) {
  const std::string_view issuer = field(params, "iss");
  if (issuer.empty() ? server.returns_issuer : issuer != server.issuer) {
    return fail(
        ErrorCode::Conflict,
        fmt::format("the answer in the browser is not of `{}`{}; it is not used", server.issuer,
                    issuer.empty() ? "" : " but of `" + visible(issuer.substr(0, 200)) + '`'));
  }
  if (const std::string_view error = field(params, "error"); !error.empty()) {
    return fail(
        ErrorCode::Unauthenticated,
        fmt::format("the authorization server refuses: `{}` {}", visible(error.substr(0, 100)),
                    visible(cut_whole_words(field(params, "error_description"), 200))));
  }
  const std::string_view code = field(params, "code");
  if (code.empty()) return fail(ErrorCode::Corrupt, "the browser came back without a code");
  return std::string(code);
}

}  // namespace

Task<Account> log_in(Login login, Challenge challenge) {
  SALLYPORT_CO_TRY(const Authority authority, co_await discover(login.application, challenge));
  SALLYPORT_CO_CHECK_OK(check_server(authority.server));
  SALLYPORT_CO_CHECK_OK(check_binding(login, authority));
  Account account = account_for(login, authority, scope_for(login, authority, challenge));
  const std::string state = random_text(login.entropy);
  const std::string verifier = random_text(login.entropy);
  const Client* const known = registered_before(login, authority);
  SALLYPORT_CO_TRY(const std::unique_ptr<Redirect> redirect,
                   co_await open_redirect(login, known, state));
  SALLYPORT_CO_TRY(std::optional<Client> named, named_client(login.application, authority.server));
  if (named) {
    account.client = std::move(*named);
  } else if (known != nullptr && known->redirect_uri == redirect->uri()) {
    account.client = *known;
  } else {
    SALLYPORT_CO_TRY(account.client, co_await register_client(login.application, authority.server,
                                                              redirect->uri(), account.scope));
  }
  login.person.show(authorization_url(authority, account, redirect->uri(), state, verifier));
  SALLYPORT_CO_TRY(const Fields params, co_await redirect->wait(login.person.patience));
  SALLYPORT_CO_TRY(const std::string code, code_in(params, authority.server));
  Fields fields{{"grant_type", "authorization_code"},
                {"code", code},
                {"redirect_uri", redirect->uri()},
                {"code_verifier", verifier}};
  SALLYPORT_CO_TRY(account.tokens,
                   co_await request_tokens(login.application, account, std::move(fields),
                                           login.clock, login.entropy));
  co_return account;
}

Task<Account> log_in_client(Login login, Challenge challenge) {
  SALLYPORT_CO_TRY(const Authority authority, co_await discover(login.application, challenge));
  SALLYPORT_CO_CHECK_OK(check_binding(login, authority));
  Account account = account_for(login, authority, scope_for(login, authority, challenge));
  SALLYPORT_CO_TRY(std::optional<Client> named, named_client(login.application, authority.server));
  if (!named) {
    co_return fail(ErrorCode::InvalidInput, "a client that authenticates itself needs an id");
  }
  account.client = std::move(*named);
  Fields fields{{"grant_type", "client_credentials"}};
  if (!account.scope.empty()) fields.emplace_back("scope", account.scope);
  SALLYPORT_CO_TRY(account.tokens,
                   co_await request_tokens(login.application, account, std::move(fields),
                                           login.clock, login.entropy));
  co_return account;
}

}  // namespace sallyport::oauth
