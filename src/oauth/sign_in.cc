#include "oauth/sign_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "oauth/access_token.h"
#include "oauth/base64url.h"
#include "oauth/client_assertion.h"
#include "oauth/discovery.h"
#include "oauth/exchange.h"

namespace sallyport::oauth {

namespace {

std::unexpected<Error> refused(std::string message) {
  return fail(ErrorCode::Unauthenticated, std::move(message), {}, "oidc_refused");
}

Task<ServerMetadata> provider(std::string issuer) {
  SALLYPORT_CO_TRY(const net::Url url, net::Url::parse(issuer));
  SALLYPORT_CO_TRY(std::optional<ServerMetadata> server,
                   co_await describe_authority(issuer, url, false));
  if (!server || server->authorization_endpoint.empty() || server->token_endpoint.empty()) {
    co_return fail(ErrorCode::Unavailable,
                   fmt::format("`{}` does not say where people sign in", issuer));
  }
  co_return std::move(*server);
}

bool accepts(const ServerMetadata& server, std::string_view method) {
  return std::ranges::find(server.client_methods, method) != server.client_methods.end();
}

}  // namespace

SignIn::SignIn(Settings settings)
    : settings_(std::move(settings)),
      keys_({settings_.clock, keys_described_by(settings_.client.issuer), settings_.log,
             settings_.client.issuer}) {}

Task<SignIn::Begun> SignIn::begin() {
  SALLYPORT_CO_TRY(const ServerMetadata server, co_await provider(settings_.client.issuer));
  const SteadyTime now = settings_.clock.steady();
  std::erase_if(open_, [&](const auto& pair) { return now - pair.second.begun >= kGood; });
  if (open_.size() >= kMostOpen) {
    open_.erase(
        std::ranges::min_element(open_, {}, [](const auto& pair) { return pair.second.begun; }));
  }
  const std::string state = random_text(settings_.entropy);
  const Open made{random_text(settings_.entropy), random_text(settings_.entropy), now};
  const Fields fields{{"response_type", "code"},
                      {"client_id", settings_.client.id},
                      {"redirect_uri", settings_.client.redirect_uri},
                      {"scope", settings_.client.scope},
                      {"state", state},
                      {"nonce", made.nonce},
                      {"code_challenge", base64url(text_of(sha256(made.verifier)))},
                      {"code_challenge_method", "S256"}};
  open_.insert_or_assign(sha256(state), made);
  const std::string& endpoint = server.authorization_endpoint;
  co_return Begun{
      endpoint + (endpoint.find('?') == std::string::npos ? '?' : '&') + form_text(fields), state};
}

Task<std::string> SignIn::redeem(std::string code, std::string verifier) {
  const SignInClient& client = settings_.client;
  SALLYPORT_CO_TRY(const ServerMetadata server, co_await provider(client.issuer));
  SALLYPORT_CO_TRY(const net::Url issuer, net::Url::parse(client.issuer));
  SALLYPORT_CO_TRY(const Destination to, reachable(server.token_endpoint, issuer, false));
  Fields fields{{"grant_type", "authorization_code"},
                {"code", std::move(code)},
                {"redirect_uri", client.redirect_uri},
                {"code_verifier", std::move(verifier)}};
  net::HttpHeaders headers;
  const bool posts =
      !accepts(server, "client_secret_basic") && accepts(server, "client_secret_post");
  if (client.secret.empty() || posts) fields.emplace_back("client_id", client.id);
  if (!client.secret.empty() && posts) fields.emplace_back("client_secret", client.secret);
  if (!client.secret.empty() && !posts) {
    const std::string pair = percent_encoded(client.id) + ':' + percent_encoded(client.secret);
    headers.emplace_back("Authorization", "Basic " + base64(as_bytes(pair)));
  }
  SALLYPORT_CO_TRY(const Response answer,
                   co_await post_form(to, std::move(fields), std::move(headers)));
  const Result<ParsedJson> parsed = parse_json(answer.body, {.bytes = kMostBytes, .depth = 16});
  const json::object* const object = parsed ? parsed->value.if_object() : nullptr;
  const auto token = object ? text_in(*object, "id_token") : std::nullopt;
  if (answer.status == 200 && token) co_return std::string(*token);
  co_return refused(fmt::format("the provider gave no ID token (HTTP {})", answer.status));
}

// Checks issuer, audience and times as for every token, and the nonce of this sign-in.
Result<void> SignIn::check(const json::object& claims, std::string_view nonce) const {
  const SignInClient& client = settings_.client;
  const Result<void> good = check_claims(claims, client.issuer, client.id, settings_.clock.wall());
  if (!good) return refused(good.error().message);
  if (text_in(claims, "nonce") != nonce) return refused("the ID token is of another sign-in");
  const json::value* const audience = claims.if_contains("aud");
  const bool several = audience->is_array() && audience->get_array().size() > 1;
  if ((several || claims.contains("azp")) && text_in(claims, "azp") != client.id) {
    return refused("the ID token was given to another client");
  }
  if (text_in(claims, "sub").value_or("").empty()) return refused("the ID token has no `sub`");
  return {};
}

Task<json::object> SignIn::finish(RedirectParams params) {
  const auto found = open_.find(sha256(params.state));
  if (found == open_.end()) co_return refused("this sign-in was not begun here, or has ended");
  const Open begun = std::move(found->second);
  open_.erase(found);
  if (settings_.clock.steady() - begun.begun >= kGood)
    co_return refused("the sign-in expired; begin again");
  // RFC 9207: a code of one provider is not sent to another.
  if (!params.issuer.empty() && params.issuer != settings_.client.issuer) {
    co_return refused("another provider sent the browser back");
  }
  if (!params.error.empty() || params.code.empty()) {
    co_return refused("the provider refused the sign-in");
  }
  SALLYPORT_CO_TRY(const std::string text, co_await redeem(params.code, begun.verifier));
  SALLYPORT_CO_TRY(JsonWebToken token, JsonWebToken::read(text));
  SALLYPORT_CO_CHECK_OK(check(token.claims, begun.nonce));
  SALLYPORT_CO_CHECK_OK(co_await keys_.verify(token));
  co_return std::move(token.claims);
}

}  // namespace sallyport::oauth
