#include "daemon/login/oidc_login.h"

#include <fmt/format.h>
#include <sodium.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::app {

namespace {

constexpr std::string_view kCookie = "sallyport-oidc";
constexpr std::string_view kBack = "session/oidc/callback";
constexpr std::size_t kMostClaimGroups = 1000;
constexpr std::size_t kLongestWho = 256;

// `https://gate.example.com` of the console there.
std::string console_origin(std::string_view console) {
  return std::string(console.substr(0, console.find('/', console.find("://") + 3)));
}

oauth::SignInClient client_of(const OidcConfig& config, std::string_view console,
                              std::string secret) {
  return {.issuer = config.issuer,
          .id = config.client_id,
          .secret = std::move(secret),
          .scope = config.scope,
          .redirect_uri = fmt::format("{}{}/{}", console_origin(console), api::kRoot, kBack)};
}

std::string cookie_in(std::string_view header) {
  while (!header.empty()) {
    std::string_view one = header.substr(0, header.find(';'));
    header.remove_prefix(std::min(header.size(), one.size() + 1));
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.starts_with(kCookie) && one.substr(kCookie.size()).starts_with('=')) {
      return std::string(one.substr(kCookie.size() + 1));
    }
  }
  return {};
}

bool same(std::string_view one, std::string_view other) {
  return !one.empty() && one.size() == other.size() &&
         sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace

OidcLogin::OidcLogin(Parts parts, const OidcConfig& config)
    : parts_(std::move(parts)),
      sign_in_({parts_.clock, parts_.entropy,
                client_of(config, parts_.console, std::move(parts_.secret)), parts_.log}) {}

void OidcLogin::add_to(api::HttpApi& api) {
  api.add({.method = "GET",
           .pattern = "session/oidc",
           .access = api::Access::Login,
           .handler = api::Act([this](api::Request request) { return begin(std::move(request)); }),
           .words = {.name = "signInAtProvider",
                     .summary = "Sends the browser to the OpenID provider"}});
  api.add({.method = "GET",
           .pattern = std::string(kBack),
           .access = api::Access::Open,
           .handler = api::Act([this](api::Request request) { return finish(std::move(request)); }),
           .words = {.name = "comeBackFromProvider",
                     .summary = "Where the OpenID provider sends the browser back to",
                     .query = {{"state", "as it was sent", {{"type", "string"}}},
                               {"code", "for an ID token", {{"type", "string"}}},
                               {"iss", "the provider", {{"type", "string"}}},
                               {"error", "why not", {{"type", "string"}}}}},
           // Providers send more, for example `session_state` (RFC 6749, section 4.1.2).
           .other_parameters = true});
  api.offer_sign_in("oidc");
}

// Lax, because the browser comes back from another site.
std::string OidcLogin::cookie(std::string_view state) const {
  return fmt::format("{}={}; {}HttpOnly; SameSite=Lax; Path={}/session/oidc; Max-Age={}", kCookie,
                     state, parts_.console.starts_with("https://") ? "Secure; " : "", api::kRoot,
                     state.empty() ? 0 : std::chrono::seconds(oauth::SignIn::kGood).count());
}

api::Response OidcLogin::to_console(std::string_view fragment) const {
  return {.status = 303,
          .text = "",
          .type = "text/plain",
          .headers = {{"location", fmt::format("{}#{}", parts_.console, fragment)},
                      {"set-cookie", cookie("")}}};
}

Task<api::Response> OidcLogin::begin(api::Request) {
  if (!api::is_private_origin(console_origin(parts_.console))) {
    co_return fail(ErrorCode::Unauthenticated,
                   "a login needs https, or a name of this machine such as `localhost`", {},
                   "tls_required");
  }
  const Result<oauth::SignIn::Begun> begun = co_await sign_in_.begin();
  if (!begun) {
    parts_.log(fmt::format("warning: people cannot sign in: {}", begun.error().message));
    co_return to_console("failed=oidc_unavailable");
  }
  co_return api::Response{
      .status = 303,
      .text = "",
      .type = "text/plain",
      .headers = {{"location", begun->url}, {"set-cookie", cookie(begun->state)}}};
}

Result<LoginLinks::Guest> OidcLogin::guest_of(const json::object& claims) const {
  SALLYPORT_TRY(const OidcPeople::Now config, parts_.people.now());
  const auto nobody = [] {
    return fail(ErrorCode::Unauthenticated,
                "the configuration names neither this person nor a group", {}, "oidc_unknown");
  };
  if (!config) return nobody();
  const std::string who = text_or_empty(claims, config->claim);
  // An email address counts only if the provider has verified it.
  const bool unproved =
      config->claim == "email" && bool_in(claims, "email_verified") != std::optional(true);
  if (who.empty() || who.size() > kLongestWho || unproved) return nobody();
  std::vector<std::string> groups;
  const json::value* const listed = claims.if_contains(config->groups_claim);
  if (listed != nullptr && listed->is_array() && listed->get_array().size() <= kMostClaimGroups) {
    for (const json::value& group : listed->get_array()) {
      if (group.is_string()) groups.emplace_back(group.get_string());
    }
  }
  const auto admitted = config->admit(who, groups);
  if (!admitted) return nobody();
  return LoginLinks::Guest{
      .name = admitted->name, .method = "oidc", .login_id = who, .groups = std::move(groups)};
}

Task<std::string> OidcLogin::link_for(api::Request request) {
  const auto text = [&](std::string_view name) { return request.query.get(name).value_or(""); };
  const std::string state = text("state");
  // Otherwise an attacker could sign another person in under the attacker's name.
  if (!same(cookie_in(request.cookies), state)) {
    co_return fail(ErrorCode::Unauthenticated, "this browser did not begin this sign-in", {},
                   "oidc_refused");
  }
  SALLYPORT_CO_TRY(const json::object claims,
                   co_await sign_in_.finish({state, text("code"), text("iss"), text("error")}));
  SALLYPORT_CO_TRY(LoginLinks::Guest guest, guest_of(claims));
  co_return parts_.links.make(std::move(guest));
}

// The page shows a code; the log has the message.
Task<api::Response> OidcLogin::finish(api::Request request) {
  const Result<std::string> secret = co_await link_for(std::move(request));
  if (secret) co_return to_console("once=" + *secret);
  parts_.log(fmt::format("a sign-in at the provider failed: {}", secret.error().message));
  const bool unknown = secret.error().cause == "oidc_unknown";
  const bool late = secret.error().code == ErrorCode::Unavailable;
  co_return to_console(unknown ? "failed=oidc_unknown"
                       : late  ? "failed=oidc_unavailable"
                               : "failed=oidc_refused");
}

}  // namespace sallyport::app
