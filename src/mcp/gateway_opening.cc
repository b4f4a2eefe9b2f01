// Who speaks which era, and how a session is opened where one side has none.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "mcp/gateway.h"
#include "mcp/json_text.h"

namespace sallyport::mcp {

namespace {

// Errors that only a stateless server has a reason to send.
bool is_modern_error(const Message& answer) {
  const json::object* const error = object_in(answer.object(), "error");
  const json::value* const code = error ? error->if_contains("code") : nullptr;
  if (code == nullptr || !code->is_int64()) return false;
  return code->get_int64() <= kHeaderMismatch && code->get_int64() >= kUnsupportedVersion;
}

// A version that is not spoken here is not handed on: a server that agrees to anything would
// promise it for us.
std::string opening_params(const Message& request) {
  const std::string_view given = request.params_text();
  const json::object* const params = request.params();
  const auto asked = params ? text_in(*params, "protocolVersion") : std::nullopt;
  if (!asked || session_version(*asked) == *asked) return std::string(given);
  return with_member(given, "protocolVersion", fmt::format("\"{}\"", session_version(*asked)));
}

// From the lowest on; a level that is not among them is none.
std::optional<std::size_t> rank_of(std::string_view level) {
  constexpr auto kLevels = std::to_array<std::string_view>(
      {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"});
  const auto found = std::ranges::find(kLevels, level);
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kLevels.begin());
}

// Methods that a stateless client has no more.
bool is_gone(std::string_view method) {
  constexpr auto kGone =
      std::to_array<std::string_view>({"ping", "logging/setLevel", "resources/subscribe",
                                       "resources/unsubscribe", "tasks/list", "tasks/result"});
  return std::ranges::find(kGone, method) != kGone.end();
}

}  // namespace

void Gateway::meet_client(const Message& request) {
  if (request.method == "initialize") {
    client_era_ = Era::Legacy;
    return;
  }
  if (client_era_ == Era::Legacy || !request.is_modern()) return;
  client_era_ = Era::Modern;
  const json::object* const meta = request.meta();
  if (meta == nullptr) return;
  if (const json::object* const known = object_in(*meta, kMetaCapabilities)) {
    client_capabilities_ = *known;
  }
  if (const auto info = find(request.params_text(), {"_meta", kMetaClient})) {
    client_info_ = std::string(*info);
    const json::object* const object = object_in(*meta, kMetaClient);
    client_name_ = object ? text_or_empty(*object, "name") : "";
  }
}

// True: it was answered, because it cannot be of the era of this client.
bool Gateway::refuse_by_era(const Message& request) {
  if (client_era_ == Era::Unknown) {
    to_client(error_text(request.id, kInvalidParams,
                         "open with `initialize`, or name a protocol version in `_meta`",
                         every_version("")));
    return true;
  }
  if (client_era_ != Era::Modern) {
    if (unopened_ && !opening_now_ && request.method != "initialize") {
      opening_now_ = true;
      tasks_.start(open_late());
    }
    return false;
  }
  const json::object* const meta = request.meta();
  const auto version = meta ? text_in(*meta, kMetaVersion) : std::nullopt;
  if (!version || object_in(*meta, kMetaCapabilities) == nullptr) {
    if (request.method == "server/discover") return false;
    to_client(
        error_text(request.id, kInvalidParams,
                   fmt::format("`_meta` lacks `{}`", version ? kMetaCapabilities : kMetaVersion),
                   version ? json::value() : every_version("")));
    return true;
  }
  if (*version != kModernVersion) {
    to_client(error_text(request.id, kUnsupportedVersion, "this protocol version is not supported",
                         modern_version(*version)));
    return true;
  }
  if (is_gone(request.method)) {
    to_client(error_text(request.id, kMethodNotFound, "Method not found"));
    return true;
  }
  if (!take_log_level(*meta)) {
    to_client(
        error_text(request.id, kInvalidParams, fmt::format("`{}` is no log level", kMetaLogLevel)));
    return true;
  }
  if (!ready_ && !opening_now_ && server_era_ == Era::Unknown) {
    not_let_in_.reset();  // a person may have logged in meanwhile
    tasks_.start(open_stateless());
  }
  return false;
}

// Requests of a stateless client name a level each; a server of sessions has one, the lowest of
// them. False: it is no level.
bool Gateway::take_log_level(const json::object& meta) {
  const json::value* const given = meta.if_contains(kMetaLogLevel);
  if (given == nullptr) return true;
  const auto rank = given->is_string() ? rank_of(given->get_string()) : std::nullopt;
  if (!rank) return false;
  const auto known = find(log_level_, {"level"});
  const auto before = known ? rank_of(known->substr(1, known->size() - 2)) : std::nullopt;
  if (before && *before <= *rank) return true;
  log_level_ = json::serialize(json::object{{"level", *given}});
  if (ready_ && server_era_ == Era::Legacy) tasks_.start(tell_log_level());
  return true;
}

Async<void> Gateway::tell_log_level() {
  if (log_level_.empty() || !find(opening_result_, {"capabilities", "logging"})) co_return;
  (void)co_await server_.ask("logging/setLevel", log_level_, settings_.limits.start);
}

// True: it was answered, because the other side has no such thing.
bool Gateway::answer_here(const Message& request) {
  if (request.method == "subscriptions/listen" && client_era_ == Era::Modern) {
    const json::object* const params = request.params();
    const json::object* const wanted = params ? object_in(*params, "notifications") : nullptr;
    const bool ours = wanted != nullptr && wants_our_tasks_alone(*wanted);
    if (!ours && server_era_ != Era::Legacy) return false;
    listen(request);
    return true;
  }
  if (bridges(Era::Legacy, Era::Modern)) {
    const bool listens =
        request.method == "resources/subscribe" || request.method == "resources/unsubscribe";
    if (request.method.starts_with("tasks/")) {
      degraded("tasks");
      to_client(error_text(request.id, kMethodNotFound, "Method not found"));
      return true;
    }
    if (!listens && request.method != "logging/setLevel") return false;
    note_request(request);
    if (listens) listen_for_client();
    to_client(result_text(request.id, "{}"));
    return true;
  }
  if (!bridges(Era::Modern, Era::Legacy)) return false;
  if (request.method == "server/discover") {
    to_client(telling_of_tools(
        result_text(request.id, with_our_tasks(discovery_from_opening(opening_result_)))));
    return true;
  }
  if (!request.method.starts_with("tasks/")) return false;
  degraded("tasks");
  to_client(error_text(request.id, kMethodNotFound, "Method not found"));
  return true;
}

// A client of sessions opens. Most servers are of its era, so that is tried first, unless it is
// known to be of the other one.
Async<void> Gateway::open_session(Message request, net::Quota::Share /*held*/) {
  const json::object* const params = request.params();
  opening_ = opening_params(request);
  const json::object* const capabilities = params ? object_in(*params, "capabilities") : nullptr;
  client_capabilities_ = capabilities ? *capabilities : json::object();
  const json::object* const info = params ? object_in(*params, "clientInfo") : nullptr;
  client_name_ = info ? text_or_empty(*info, "name") : "";
  client_info_ = std::string(find(opening_, {"clientInfo"}).value_or(""));

  Result<void> up = co_await server_up();
  Result<Message> answer = fail(ErrorCode::Unavailable, up ? "" : up.error().message);
  const bool tried = up && server_era_ == Era::Unknown && settings_.era.era == Era::Modern;
  if (tried) (void)co_await probe();
  if (up && server_era_ != Era::Modern && !settings_.era.excludes(Era::Legacy)) {
    answer = co_await server_.ask("initialize", opening_, settings_.limits.opening);
  }
  if (answer && !answer->is_error()) {
    if (tried) learn_era(Era::Legacy);
    server_era_ = Era::Legacy;
    unopened_.reset();
    const Result<std::string> text = co_await passed("initialize", *answer);
    opening_result_ = std::string(text ? find(*text, {"result"}).value_or("{}") : "{}");
    to_client(text ? with_member(telling_of_tools(*text), "id", request.id)
                   : error_text(request.id, kDenied, text.error().message));
    relayed_.erase(request.id);
    if (opened_) server_.send(notification_text("notifications/initialized", {}));
    set_ready();
    co_return;
  }
  const bool may_probe = up && !tried && !settings_.era.excludes(Era::Modern);
  const bool stateless =
      up && (server_era_ == Era::Modern || (may_probe && (co_await probe()).has_value()));
  if (stateless && !tried) learn_era(Era::Modern);
  relayed_.erase(request.id);
  if (stateless) {
    const std::string asked(params ? text_in(*params, "protocolVersion").value_or("") : "");
    to_client(telling_of_tools(result_text(request.id, opening_from_discovery(discovery_, asked))));
    if (opened_) listen_for_client();
  } else if (answer) {
    const Result<std::string> text = co_await passed("initialize", *answer);
    to_client(text ? with_member(*text, "id", request.id)
                   : error_text(request.id, kDenied, text.error().message));
  } else {
    unopened_ = answer.error();
    to_client(error_text(request.id, kInternalError, answer.error().message));
  }
}

// The client has its session, since other servers have answered: one that could not be reached then
// is opened when it is asked for something.
Async<void> Gateway::open_late() {
  Result<void> opened = co_await server_up();
  if (opened && !settings_.era.excludes(Era::Legacy)) {
    opened = co_await open_legacy(std::string(opening_));
  }
  if (!opened && server_.up() && !settings_.era.excludes(Era::Modern)) {
    opened = co_await probe();
    if (opened) listen_for_client();
  }
  opening_now_ = false;
  unopened_ = opened ? std::nullopt : std::optional(opened.error());
}

// A stateless client has sent its first request.
Async<void> Gateway::open_stateless() {
  opening_now_ = true;
  Result<void> opened = co_await server_up();
  const bool sessions_first = settings_.era.era == Era::Legacy;
  if (opened && sessions_first) opened = fail(ErrorCode::NotFound, "the server is not stateless");
  if (opened) opened = co_await probe();
  // One that says nothing may only be slow to start; that is no sign of its era.
  const bool refused = !opened && opened.error().code != ErrorCode::Deadline;
  if (!opened && server_.up() && !settings_.era.excludes(Era::Legacy)) {
    opened = co_await open_legacy(own_opening());
    if (opened && refused && !sessions_first) learn_era(Era::Legacy);
  }
  // It may have been silent before because it was not there yet.
  if (!opened && server_.up() && !settings_.era.excludes(Era::Modern)) {
    opened = co_await probe();
    if (opened && sessions_first) learn_era(Era::Modern);
  }
  opening_now_ = false;
  // To wait would not help.
  if (!opened && opened.error().cause == kNotLetIn) not_let_in_ = opened.error();
  if (!opened) settings_.log("the server does not open: " + opened.error().message);
}

// The params of `initialize` for a client that has none.
std::string Gateway::own_opening() const {
  json::object offered;
  for (const char* const name : {"sampling", "elicitation", "roots"}) {
    // A later client may have more capabilities; a client that cannot answer is not asked.
    if (settings_.shared || client_capabilities_.contains(name)) offered[name] = json::object();
  }
  if (json::value* const asks = offered.if_contains("elicitation")) {
    const json::object* const known = object_in(client_capabilities_, "elicitation");
    for (const char* const mode : {"form", "url"}) {
      const bool can = settings_.shared || (known != nullptr && known->contains(mode));
      if (can) asks->get_object()[mode] = json::object();
    }
  }
  return json::serialize(json::object{
      {"protocolVersion", kLegacyVersion},
      {"capabilities", std::move(offered)},
      {"clientInfo", json::object{{"name", client_name_.empty() ? "sallyport" : client_name_},
                                  {"version", "0"}}}});
}

// The era that was tried first is not the server's: next time this is known before.
void Gateway::learn_era(Era era) {
  if (settings_.era.learned) settings_.era.learned(era);
}

// Is it a stateless server? Then it is ready.
Task<void> Gateway::probe() {
  ClientFacts facts = client_facts();
  const std::string params = modern_params("{}", facts);
  const Result<Message> answer =
      co_await server_.ask("server/discover", params, settings_.limits.probe);
  if (!answer) co_return std::unexpected(answer.error());
  if (answer->is_error() && !is_modern_error(*answer)) {
    co_return fail(ErrorCode::NotFound, "the server is not stateless");
  }
  server_era_ = Era::Modern;
  SALLYPORT_CO_TRY(const std::string text, co_await passed("server/discover", *answer));
  discovery_ = std::string(find(text, {"result"}).value_or("{}"));
  set_ready();
  co_return Result<void>{};
}

Task<void> Gateway::open_legacy(std::string params) {
  opening_ = std::move(params);
  SALLYPORT_CO_TRY(const Message answer,
                   co_await server_.ask("initialize", opening_, settings_.limits.opening));
  if (answer.is_error()) co_return fail(ErrorCode::Unavailable, "the server refuses `initialize`");
  SALLYPORT_CO_TRY(const std::string text, co_await passed("initialize", answer));
  server_era_ = Era::Legacy;
  opening_result_ = std::string(find(text, {"result"}).value_or("{}"));
  opened_ = true;
  server_.send(notification_text("notifications/initialized", {}));
  co_await tell_log_level();
  set_ready();
  co_return Result<void>{};
}

// May the model see the server's instructions? What has changed since it was first seen is held
// back like a tool, and so is what cannot be pinned.
Async<bool> Gateway::may_instruct(const json::object& opening) {
  std::vector<ToolDefinition> said;
  said.push_back(instructions_in(opening));
  const Result<HeldBack> held = co_await parts_.pins.look(settings_.name, std::move(said));
  if (!held) co_return false;
  tell_of_held(*held);
  co_return held->changed.empty() && held->beyond.empty();
}

ClientFacts Gateway::client_facts() const {
  ClientFacts facts{.capabilities = json::serialize(client_capabilities_), .info = client_info_};
  const auto level = find(log_level_, {"level"});
  if (level && client_era_ == Era::Legacy) facts.log_level = std::string(*level);
  return facts;
}

std::string Gateway::params_for_server(std::string params) const {
  if (bridges(Era::Legacy, Era::Modern)) return modern_params(params, client_facts());
  if (bridges(Era::Modern, Era::Legacy)) return legacy_params(params);
  return params;
}

// Of requests that we make ourselves.
std::string Gateway::own_params(std::string params) const {
  return server_era_ == Era::Modern ? modern_params(params, client_facts()) : params;
}

std::string Gateway::for_server(const Message& request) const {
  if (client_era_ == server_era_) return request.text;
  const std::string params = params_for_server(std::string(request.params_text()));
  return params.empty() ? request.text : with_member(request.text, "params", params);
}

std::string Gateway::result_for_client(std::string_view method, std::string_view result) {
  if (bridges(Era::Legacy, Era::Modern)) {
    std::string changed = legacy_result(method, result);
    const auto lost = [&](std::string_view name) {
      return find(result, {name}) && !find(changed, {name});
    };
    if (lost("structuredContent")) degraded("structured_content");
    return changed;
  }
  if (client_era_ != Era::Modern) return std::string(result);
  const std::string_view info = server_era_ == Era::Legacy
                                    ? find(opening_result_, {"serverInfo"}).value_or("")
                                    : std::string_view();
  // A result that is filtered for this client must not be cached for others.
  std::string changed = modern_result(method, result, info);
  return method == "server/discover" ? with_our_tasks(std::move(changed)) : changed;
}

std::string Gateway::answer_for_client(std::string_view method, std::string text) {
  if (method == "server/discover") text = telling_of_tools(std::move(text));
  if (client_era_ != Era::Modern && server_era_ != Era::Modern) return text;
  if (const auto result = find(text, {"result"})) {
    const std::string changed = result_for_client(method, *result);
    return with_member(text, "result", changed);
  }
  const auto error = find(text, {"error"});
  if (!error || !bridges(Era::Modern, Era::Legacy)) return text;
  if (const std::string questions = questions_from_error(*error); !questions.empty()) {
    return with_member(without_member(text, "error"), "result", questions);
  }
  const std::string changed = modern_error(*error);
  return with_member(text, "error", changed);
}

}  // namespace sallyport::mcp
