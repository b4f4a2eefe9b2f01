#include "api/http_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "api/conditions.h"
#include "api/openapi.h"
#include "base/cut_text.h"
#include "base/lower_case.h"
#include "base/nearest.h"
#include "base/try.h"
#include "net/page_headers.h"
#include "net/url.h"

namespace sallyport::api {

namespace {

constexpr std::string_view kVersion = "1.0.0";  // of the API, not of the program

using net::ServerRequest;
using net::ServerResponse;

constexpr std::size_t kShortestToken = 16;
constexpr std::size_t kLongestToken = 16u << 10;
constexpr std::size_t kMostValues = 100'000;  // of a body
constexpr std::size_t kLongestName = 80;      // as a message shows it
constexpr std::string_view kCookies[] = {"__Host-sallyport", "sallyport"};

bool is_read(const ServerRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

Error unauthenticated(std::string_view code, std::string message) {
  return {ErrorCode::Unauthenticated, std::move(message), {}, std::string(code)};
}

std::optional<std::string_view> bearer_in(const ServerRequest& request) {
  const auto header = request.header("authorization");
  if (!header || header->size() > kLongestToken) return std::nullopt;
  constexpr std::string_view kScheme = "bearer ";
  if (lower_case(header->substr(0, kScheme.size())) != kScheme) return std::nullopt;
  return header->substr(kScheme.size());
}

std::vector<std::string_view> cookies_in(const ServerRequest& request) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string_view> found;
  for (const auto& [name, value] : request.headers) {
    if (name != "cookie") continue;
    std::string_view rest = value;
    while (!rest.empty() && found.size() < kMost) {
      std::string_view cookie = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), cookie.size() + 1));
      while (cookie.starts_with(' ')) cookie.remove_prefix(1);
      const std::size_t equals = std::min(cookie.find('='), cookie.size());
      const bool ours = std::ranges::find(kCookies, cookie.substr(0, equals)) != std::end(kCookies);
      if (ours && equals + 1 < cookie.size()) found.push_back(cookie.substr(equals + 1));
    }
  }
  return found;
}

// Requires `Origin`, JSON and, except at a login, the header of the page secret (CO-14).
// `HttpNames::refuse` has already refused foreign origins, and `Sessions::find` compares the secret.
std::optional<Error> foreign_write(const ServerRequest& request, bool login) {
  if (request.count("origin") == 0) {
    return unauthenticated("origin_missing", "`Origin` is missing; a write from a page needs it");
  }
  std::string type = lower_case(request.header("content-type").value_or(""));
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.pop_back();
  if (type != "application/json") {
    return Error{ErrorCode::InvalidInput,
                 "`Content-Type` must be `application/json`, also for an empty body",
                 "content-type", "content_type"};
  }
  if (!login && !request.header("x-sallyport-page")) {
    return unauthenticated("page_secret_missing", "`X-Sallyport-Page` is missing");
  }
  if (request.count("sec-fetch-site") != 0 && request.header("sec-fetch-site") != "same-origin") {
    return unauthenticated("cross_site", "another site sent this");
  }
  return std::nullopt;
}

ServerResponse too_many(std::string code, std::string detail, Rate::Room room, std::size_t most,
                        int window) {
  ServerResponse response = Problem{429, std::move(code), std::move(detail), {}, {}}.response();
  response.headers.emplace_back("retry-after", std::to_string(room.retry.count()));
  response.headers.emplace_back("ratelimit",
                                fmt::format("\"default\";r=0;t={}", room.retry.count()));
  response.headers.emplace_back("ratelimit-policy",
                                fmt::format("\"default\";q={};w={}", most, window));
  return response;
}

ServerResponse refusal_of(const Error& error) {
  return problem_of(error).response();
}

// Refuses members that the schema does not name. They would be silently ignored.
Result<void> check_members(const json::value& body, const json::object& schema) {
  const json::object* const given = body.if_object();
  if (given == nullptr || !schema.contains("additionalProperties")) return {};
  const json::object& known = schema.at("properties").as_object();
  for (const json::key_value_pair& member : *given) {
    const std::string name = cut_utf8_bytes(member.key(), kLongestName);
    if (known.contains(member.key())) continue;
    return fail(ErrorCode::InvalidInput,
                fmt::format("the body has an unknown member; leave `{}` out", name), name);
  }
  return {};
}

// Refuses parameters that the route does not have. They would be silently ignored, and the answer
// would not fit the request.
Result<void> check_parameters(const Query& query, const Route& route) {
  if (route.other_parameters) return {};
  std::vector<std::string> known;
  for (const Parameter& parameter : route.words.query) known.push_back(parameter.name);
  for (const auto& [name, value] : query.all()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string shown = cut_utf8_bytes(name, kLongestName);
    const std::string taken = known.empty()
                                  ? std::string("this route takes none")
                                  : fmt::format("this route takes {}", fmt::join(known, ", "));
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("unknown query parameter `{}`{}; {}", shown, did_you_mean(name, known), taken),
        shown);
  }
  return {};
}

ServerResponse nothing_here(const RouteTable::Match& match) {
  if (match.allowed.empty()) {
    return Problem{
        404, "not_found", "no page at this path; see /mcp, /v1, /console/ and /api/v1", {}, {}}
        .response();
  }
  ServerResponse response =
      Problem{405, "method", "this method is not allowed here; `allow` lists the methods", {}, {}}
          .response();
  response.headers.emplace_back("allow", fmt::format("{}", fmt::join(match.allowed, ", ")));
  return response;
}

// Makes the text and the ETag of an answer. Reader threads call this, because a long list would
// delay tool calls on the loop.
void write_out(Response& answer) {
  if (!answer.text) answer.text = json::serialize(answer.body);
  answer.body = nullptr;
  answer.tag = etag_of(answer);
}

ServerResponse response_of(Response answer) {
  ServerResponse response{.status = answer.status, .headers = std::move(answer.headers)};
  const bool empty = answer.status == 204;
  if (!empty) {
    response.body = answer.text ? std::move(*answer.text) : json::serialize(answer.body);
    response.headers.emplace_back("content-type", answer.type);
  }
  const bool caches = std::ranges::any_of(
      response.headers, [](const auto& header) { return header.first == "cache-control"; });
  if (!caches) response.headers.emplace_back("cache-control", "no-store");
  net::add_page_headers(response);
  return response;
}

ServerResponse response_of(Result<Response> answer) {
  return answer ? response_of(std::move(*answer)) : refusal_of(answer.error());
}

// Adds the ETag, and omits the body if the client already has it.
ServerResponse conditional(const ServerRequest& http, Result<Response> answer) {
  if (!answer || answer->status != 200) return response_of(std::move(answer));
  const std::string tag = etag_of(*answer);
  if (!may_match(http, tag)) {
    return Problem{412, "precondition_failed", "it has changed; read it again", {}, {}}.response();
  }
  if (has_already(http, tag)) {
    answer->body = nullptr;
    answer->text = "";
    answer->status = 304;
  }
  ServerResponse response = response_of(std::move(*answer));
  response.headers.emplace_back("etag", tag);
  return response;
}

}  // namespace

ServerResponse stream_head() {
  ServerResponse head{.headers = {{"content-type", "text/event-stream"},
                                  {"cache-control", "no-store"},
                                  {"x-accel-buffering", "no"}}};
  net::add_page_headers(head);
  return head;
}

bool is_private_origin(std::string_view origin) {
  const Result<net::Url> url = net::Url::parse(origin);
  return url && (url->tls || url->is_loopback() || url->host.ends_with(".localhost"));
}

std::string session_cookie(std::string_view origin, std::string_view value) {
  const bool tls = origin.starts_with("https://");
  return fmt::format("{}={}; {}HttpOnly; SameSite=Strict; Path=/{}", kCookies[tls ? 0 : 1], value,
                     tls ? "Secure; " : "", value.empty() ? "; Max-Age=0" : "");
}

HttpApi::HttpApi(Parts parts)
    : parts_(parts),
      sessions_(parts.clock, parts.entropy),
      requests_(parts.clock, {.most = 50, .window = std::chrono::seconds(1)}),
      logins_(parts.clock, {.most = 5, .window = std::chrono::minutes(1)}),
      repeats_(parts.clock) {
  add({.method = "GET",
       .pattern = "openapi.json",
       .access = Access::Open,
       .handler = Read([this](const Request&) -> Result<Response> {
         return Response{.body = openapi(table_, kVersion)};
       }),
       .words = {.name = "describeApi",
                 .summary = "Returns this document",
                 .response = json::object{{"type", "object"}}}});
}

ServerResponse HttpApi::format_refusal(ServerResponse refusal) const {
  std::string text = refusal.body;
  while (text.ends_with('\n')) text.pop_back();
  std::string code = refusal.cause.empty() ? "invalid" : refusal.cause;
  return Problem{refusal.status, std::move(code), std::move(text), {}, {}}.response();
}

Result<Person> HttpApi::signed_in(const ServerRequest& request, bool use) {
  const std::vector<std::string_view> cookies = cookies_in(request);
  const auto secret = request.header("x-sallyport-page");
  if (cookies.empty() && !secret) {
    return std::unexpected(unauthenticated(
        "no_session", "sign in, or send the token of a person in `Authorization: Bearer`"));
  }
  if (cookies.empty() || !secret) {
    return std::unexpected(unauthenticated(
        "no_session", "the cookie of a session and its page secret are both needed"));
  }
  const Session* session = nullptr;
  for (const std::string_view cookie : cookies) {
    if (session == nullptr) session = sessions_.find(cookie, *secret, use);
  }
  if (session == nullptr) {
    return std::unexpected(unauthenticated("session_ended", "this session has ended; sign in"));
  }
  Person person{session->name, session->fixed, session->method, session->id};
  if (!session->fixed.empty()) return person;
  SALLYPORT_TRY(const std::optional<Roles> roles, parts_.people.roles_now(*session));
  if (!roles) {
    sessions_.end(std::string(person.session));
    return std::unexpected(unauthenticated(
        "session_ended", "this person, or what they signed in with, is not registered any more"));
  }
  person.roles = *roles;
  return person;
}

Result<Person> HttpApi::person_of(const ServerRequest& request, Access access, bool use) {
  const bool token = request.count("authorization") != 0;
  if (access == Access::Session || !token) return signed_in(request, use);
  const auto bearer = bearer_in(request);
  if (!bearer) {
    return std::unexpected(unauthenticated(
        "no_session", "the token of a person belongs in one `Authorization: Bearer`"));
  }
  std::optional<Person> person;
  if (bearer->size() >= kShortestToken) {
    SALLYPORT_TRY(person, parts_.people.with_token(*bearer));
  }
  if (!person) {
    return std::unexpected(
        unauthenticated("unknown_token", "this token belongs to no registered reviewer"));
  }
  return *person;
}

std::optional<ServerResponse> HttpApi::check_rate(const ServerRequest& head, Access access) {
  if (access == Access::Login) {
    const Rate::Room room = logins_.take(head.peer);
    if (room.ok) return std::nullopt;
    return too_many("too_many_logins", "too many logins from this address; wait", room, 5, 60);
  }
  return std::nullopt;
}

std::optional<ServerResponse> HttpApi::check(const ServerRequest& head, Person& person) {
  const RouteTable::Match match = table_.find(head.method, head.path);
  if (match.route == nullptr) return nothing_here(match);
  const Route& route = *match.route;
  const bool login = route.access == Access::Login;
  if (auto full = check_rate(head, route.access)) return full;
  const bool by_cookie = head.count("authorization") == 0 || route.access == Access::Session;
  const bool has_cookie = !cookies_in(head).empty();
  if ((login && !is_read(head)) ||
      (!is_read(head) && by_cookie && has_cookie && route.access != Access::Open)) {
    if (const auto error = foreign_write(head, login)) return refusal_of(*error);
  }
  if (login && !is_read(head) && !is_private_origin(head.header("origin").value_or(""))) {
    return refusal_of(unauthenticated(
        "tls_required", "a login needs https, or a name of this machine such as `localhost`"));
  }
  if (route.access == Access::Person || route.access == Access::Session) {
    Result<Person> found = person_of(head, route.access, true);
    if (!found) {
      Problem problem = problem_of(found.error());
      if (problem.status == 401) problem.more["sign_in"] = sign_in_;
      return problem.response();
    }
    person = std::move(*found);
    const Rate::Room room = requests_.take(person.session.empty() ? person.name : person.session);
    if (!room.ok) return too_many("too_many_requests", "too many requests; wait", room, 50, 1);
    if (route.access == Access::Person && !person.roles.any_of(route.roles)) {
      return refusal_of(
          unauthenticated("role", fmt::format("`{}` is not registered as {}", person.name,
                                              fmt::join(route.roles.names(), " or "))));
    }
  }
  return std::nullopt;
}

Async<std::optional<ServerResponse>> HttpApi::refuse(ServerRequest& head) {
  Person person;
  std::optional<ServerResponse> refusal = check(head, person);
  head.principal = person.name;
  co_return refusal;
}

Result<Request> HttpApi::read(const ServerRequest& http, const RouteTable::Match& match) {
  const Route& route = *match.route;
  Request request{.path = match.path,
                  .peer = http.peer,
                  .origin = std::string(http.header("origin").value_or("")),
                  .lists = &lists_};
  if (route.access == Access::Person || route.access == Access::Session) {
    SALLYPORT_TRY(request.person, person_of(http, route.access, false));
  } else {
    request.cookies = std::string(http.header("cookie").value_or(""));
  }
  SALLYPORT_TRY(request.query, Query::parse(http.query));
  SALLYPORT_CHECK_OK(check_parameters(request.query, route));
  if (is_read(http)) return request;
  if (http.body.size() > route.body_bytes) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("a body has at most {} bytes here", route.body_bytes), {}, "too_large");
  }
  if (http.body.empty()) return request;
  SALLYPORT_TRY(ParsedJson body,
                parse_json(http.body, {.bytes = route.body_bytes, .values = kMostValues}));
  SALLYPORT_CHECK_OK(check_members(body.value, route.words.request));
  request.body = std::move(body.value);
  return request;
}

Async<void> HttpApi::handle(net::ServerExchange& exchange) {
  const ServerRequest& http = exchange.request();
  const RouteTable::Match match = table_.find(http.method, http.path);
  if (match.route == nullptr) {
    co_await exchange.respond(nothing_here(match));
    co_return;
  }
  Result<Request> request = read(http, match);
  if (!request) {
    co_await exchange.respond(refusal_of(request.error()));
    co_return;
  }
  if (std::holds_alternative<Stream>(match.route->handler)) {
    co_await stream(exchange, *match.route, std::move(*request));
    co_return;
  }
  co_await exchange.respond(co_await answer(http, *match.route, std::move(*request)));
}

Task<Response> HttpApi::run_read(Read read, Request request) {
  std::function<Result<Response>(const Readers::Wanted&)> work =
      [read = std::move(read), request = std::move(request)](const Readers::Wanted& wanted) {
        Request own_request = request;
        own_request.wanted = wanted;
        Result<Response> answer = read(own_request);
        if (answer) write_out(*answer);
        return answer;
      };
  co_return co_await readers_.run<Response>(std::move(work));
}

Async<ServerResponse> HttpApi::answer(const ServerRequest& http, const Route& route,
                                      Request request) {
  if (const Read* const look = std::get_if<Read>(&route.handler)) {
    Result<Response> answer = co_await run_read(*look, std::move(request));
    co_return is_read(http) ? conditional(http, std::move(answer)) : response_of(std::move(answer));
  }
  if (http.method == "POST" && http.count("idempotency-key") != 0) {
    co_return co_await act_once(http, route, std::move(request));
  }
  co_return co_await act(http, route, std::move(request));
}

Async<ServerResponse> HttpApi::act_once(const ServerRequest& http, const Route& route,
                                        Request request) {
  const auto key = http.header("idempotency-key");
  if (!key || !Idempotency::is_key(*key)) {
    co_return refusal_of({ErrorCode::InvalidInput,
                          "`Idempotency-Key` has 8 to 128 visible ASCII characters",
                          "idempotency-key",
                          {}});
  }
  const std::string name = fmt::format("{}\n{}\n{}\n{}", request.person.name, http.path,
                                       request.person.name.empty() ? http.peer : "", *key);
  Result<std::optional<ServerResponse>> first = co_await repeats_.begin(name, http.body);
  if (!first) co_return refusal_of(first.error());
  if (*first) co_return std::move(**first);
  // Requests that wait for this one get an answer in every case.
  ServerResponse response =
      Problem{503, "busy", "the first request did not end; try again", {}, {}}.response();
  const std::shared_ptr<void> at_end(nullptr, [&](void*) { repeats_.finish(name, response); });
  response = co_await act(http, route, std::move(request));
  co_return ServerResponse(response);  // a copy: the other is kept
}

Async<ServerResponse> HttpApi::act(const ServerRequest& http, const Route& route, Request request) {
  if (http.count("if-match") != 0) {
    std::string tag;
    if (route.condition) {
      const Result<Response> now = co_await run_read(route.condition, request);
      if (!now) co_return refusal_of(now.error());
      tag = etag_of(*now);
    }
    if (!may_match(http, tag)) {
      co_return Problem{412, "precondition_failed", "it has changed; read it again", {}, {}}
          .response();
    }
  }
  const Act& run = std::get<Act>(route.handler);
  Result<Response> answer = co_await run(std::move(request));
  co_return is_read(http) ? conditional(http, std::move(answer)) : response_of(std::move(answer));
}

Async<void> HttpApi::stream(net::ServerExchange& exchange, const Route& route, Request request) {
  if (exchange.request().method == "HEAD") {
    Response head{.text = "", .type = "text/event-stream"};
    co_await exchange.respond(response_of(std::move(head)));
    co_return;
  }
  // The stream ends for a person who has signed out or was removed from the list (CO-24).
  const auto still = [this, &exchange, &route] {
    const Result<Person> person = person_of(exchange.request(), route.access, false);
    return person && person->roles.any_of(route.roles);
  };
  co_await std::get<Stream>(route.handler)(std::move(request), exchange, still);
}

}  // namespace sallyport::api
