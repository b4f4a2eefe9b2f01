#include "daemon/api/session_api.h"

#include <boost/json.hpp>

#include "api/schema.h"
#include "base/base64url.h"
#include "base/json_members.h"
#include "base/try.h"
#include "daemon/api/listed.h"
#include "trust/approver_book.h"
#include "workspace/version.h"

namespace sallyport::app {

namespace {

namespace schema = api::schema;
constexpr std::size_t kLargestLogin = 4096;
constexpr std::size_t kLargestAssertion = 24u << 10;

json::object session_schema(bool with_secret) {
  json::object shape = schema::object({{"id", schema::text()},
                                       {"name", schema::text()},
                                       {"roles", schema::list(schema::text())},
                                       {"how", schema::text()},
                                       {"server_time", schema::text()},
                                       {"expires_at", schema::text()},
                                       {"idle_seconds", schema::number()},
                                       {"console", schema::object()},
                                       {"version", schema::text()}});
  if (!with_secret) return shape;
  shape["properties"].as_object()["page_secret"] = schema::text();
  shape["required"].as_array().emplace_back("page_secret");
  return shape;
}

Result<std::string> only_member(const json::value& body, std::string_view name) {
  const json::object* const given = body.if_object();
  const auto text = given ? text_in(*given, name) : std::nullopt;
  if (!text || text->empty() || given->size() != 1) {
    return fail(ErrorCode::InvalidInput,
                "the body is an object with `" + std::string(name) + "` alone", std::string(name));
  }
  return std::string(*text);
}

}  // namespace

void SessionApi::add_to(api::HttpApi& api) {
  sessions_ = &api.sessions();
  add_logins(api);
  api.add({.method = "GET",
           .pattern = "session",
           .access = api::Access::Session,
           .handler = api::Act([this](Request request) { return show(std::move(request)); }),
           .words = {.name = "showSession",
                     .summary = "Shows who is signed in",
                     .response = session_schema(false)}});
  api.add({.method = "DELETE",
           .pattern = "session",
           .access = api::Access::Session,
           .handler = api::Act([this](Request request) { return leave(std::move(request)); }),
           .words = {.name = "endSession", .summary = "Signs out"}});
  api.add({.method = "GET",
           .pattern = "sessions",
           .access = api::Access::Session,
           .handler = api::Act([this](Request request) { return list(std::move(request)); }),
           .words = {.name = "listSessions",
                     .summary = "Lists the caller's own sessions",
                     .response = schema::page(schema::object())}});
  api.add({.method = "DELETE",
           .pattern = "sessions/{id}",
           .access = api::Access::Session,
           .handler = api::Act([this](Request request) { return revoke(std::move(request)); }),
           .words = {.name = "revokeSession", .summary = "Ends one of the caller's own sessions"}});
}

void SessionApi::add_logins(api::HttpApi& api) {
  api.add({.method = "POST",
           .pattern = "session/link",
           .access = api::Access::Login,
           .body_bytes = kLargestLogin,
           .handler = api::Act([this](Request request) { return by_link(std::move(request)); }),
           .words = {.name = "signInByLink",
                     .summary = "Signs in with a link from `sallyport console`",
                     .request = schema::exact({{"once", schema::text()}}),
                     .response = session_schema(true)}});
  api.add({.method = "POST",
           .pattern = "session/token",
           .access = api::Access::Login,
           .body_bytes = kLargestLogin,
           .handler = api::Act([this](Request request) { return by_token(std::move(request)); }),
           .words = {.name = "signInByToken",
                     .summary = "Signs in with the token of a registered person",
                     .request = schema::exact({{"token", schema::text()}}),
                     .response = session_schema(true)}});
  json::object either = schema::object();
  either["anyOf"] =
      json::array{schema::object({{"challenge", schema::text()}, {"rp_id", schema::text()}}),
                  session_schema(true)};
  api.add({.method = "POST",
           .pattern = "session/passkey",
           .access = api::Access::Login,
           .body_bytes = kLargestAssertion,
           .handler = api::Act([this](Request request) { return by_passkey(std::move(request)); }),
           .words = {.name = "signInByPasskey",
                     .summary =
                         "Without a body, returns a challenge; with a passkey's signature of it, "
                         "signs in",
                     .request = schema::exact({}, {{"signature", schema::text()}}),
                     .response = std::move(either)}});
}

Result<json::object> SessionApi::described(const api::Session& session) const {
  api::Roles roles = session.fixed;
  if (roles.empty()) {
    SALLYPORT_TRY(const auto now, parts_.people.roles_now(session));
    roles = now.value_or(api::Roles());
  }
  json::array names;
  for (const std::string& name : roles.names()) names.emplace_back(name);
  json::array strong;
  if (parts_.strong.dual_control) strong.emplace_back("dual_control");
  if (parts_.strong.requires_human) strong.emplace_back("requires_human");
  return json::object{{"id", session.id},
                      {"name", session.name},
                      {"roles", std::move(names)},
                      {"how", session.method},
                      {"server_time", rfc3339(parts_.clock.wall())},
                      {"expires_at", rfc3339(sessions_->expires_at(session))},
                      {"idle_seconds", std::chrono::seconds(api::Sessions::kIdle).count()},
                      {"console", json::object{{"policies", to_string(parts_.policies)},
                                               {"strong", std::move(strong)}}},
                      {"version", version()}};
}

Result<api::Response> SessionApi::begin(const Request& request, LoginLinks::Guest guest) {
  const api::Sessions::Opened opened = sessions_->open(std::move(guest), request.peer);
  SALLYPORT_TRY(json::object body, described(*opened.session));
  body["page_secret"] = opened.page_secret;
  return api::Response{
      .body = std::move(body),
      .headers = {{"set-cookie", api::session_cookie(request.origin, opened.cookie)}}};
}

Task<api::Response> SessionApi::by_link(Request request) {
  SALLYPORT_CO_TRY(const std::string once, only_member(request.body, "once"));
  std::optional<LoginLinks::Guest> guest = parts_.links.take(once);
  if (!guest) {
    co_return fail(ErrorCode::Unauthenticated,
                   "this link was used, is older than five minutes or never existed; get a new one "
                   "with `sallyport console`",
                   {}, "link_unknown");
  }
  co_return begin(request, std::move(*guest));
}

Task<api::Response> SessionApi::by_token(Request request) {
  SALLYPORT_CO_TRY(const std::string token, only_member(request.body, "token"));
  std::optional<api::Person> person;
  constexpr std::size_t kShortestToken = 16;
  if (token.size() >= kShortestToken) {
    SALLYPORT_CO_TRY(person, parts_.people.with_token(token));
  }
  if (!person) {
    co_return fail(ErrorCode::Unauthenticated, "this token belongs to no registered reviewer", {},
                   "unknown_token");
  }
  co_return begin(
      request,
      {.name = std::move(person->name), .method = "token", .login_id = trust::token_digest(token)});
}

// The challenge first, then what a passkey says to it.
Task<api::Response> SessionApi::by_passkey(Request request) {
  const json::object* const body = request.body.if_object();
  if (body == nullptr || !body->contains("signature")) {
    co_return api::Response{
        .body = json::object{{"challenge", base64url(parts_.passkeys.challenge("sign in"))},
                             {"rp_id", rp_id_of(request.origin)}}};
  }
  SALLYPORT_CO_TRY(const std::string signature, only_member(request.body, "signature"));
  SALLYPORT_CO_TRY(PasskeyDesk::Signer signer,
                   parts_.passkeys.signer_of_login(request.origin, signature));
  co_return begin(
      request,
      {.name = std::move(signer.name), .method = "passkey", .login_id = std::move(signer.login)});
}

Task<api::Response> SessionApi::show(Request request) {
  const api::Session* const session = sessions_->find(request.person.session);
  if (session == nullptr) {
    co_return fail(ErrorCode::Unauthenticated, "this session has ended", {}, "session_ended");
  }
  SALLYPORT_CO_TRY(json::object body, described(*session));
  json::object state = body;
  state.erase("server_time");
  co_return api::Response{.body = std::move(body), .state = json::serialize(state)};
}

Task<api::Response> SessionApi::list(Request request) {
  json::array items;
  for (const api::Session& session : sessions_->of(request.person.name)) {
    items.push_back(json::object{{"id", session.id},
                                 {"current", session.id == request.person.session},
                                 {"how", session.method},
                                 {"created_at", rfc3339(session.created_at)},
                                 {"used_at", rfc3339(session.used_at)},
                                 {"expires_at", rfc3339(sessions_->expires_at(session))},
                                 {"address", session.address}});
  }
  co_return whole_list(std::move(items));
}

Task<api::Response> SessionApi::leave(Request request) {
  sessions_->end(request.person.session);
  co_return api::Response{.status = 204,
                          .headers = {{"set-cookie", api::session_cookie(request.origin, "")}}};
}

Task<api::Response> SessionApi::revoke(Request request) {
  const std::string& id = request.at("id");
  const api::Session* const session = sessions_->find(id);
  if (session == nullptr || session->name != request.person.name) {
    co_return fail(ErrorCode::NotFound, "you have no such session");
  }
  sessions_->end(id);
  co_return api::Response{.status = 204};
}

}  // namespace sallyport::app
