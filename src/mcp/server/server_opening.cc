#include "mcp/server/server_opening.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

constexpr const char* kUp = "up";
constexpr const char* kReady = "ready";

// Errors that only a stateless server has a reason to send.
bool is_modern_error(const Message& answer) {
  const json::object* const error = object_in(answer.object(), "error");
  const json::value* const code = error ? error->if_contains("code") : nullptr;
  if (code == nullptr || !code->is_int64()) return false;
  return code->get_int64() <= kHeaderMismatch && code->get_int64() >= kUnsupportedVersion;
}

std::string result_in(const Message& answer) {
  const std::string_view result = answer.result_text();
  return std::string(result.empty() ? "{}" : result);
}

}  // namespace

// Most servers are of the client's era, so that is tried first, unless the server is known to be of
// the other one.
Task<std::optional<Result<Message>>> ServerOpening::open(std::string params) {
  params_ = std::move(params);
  const Result<void> up = co_await wait_up();
  Result<Message> answer = fail(ErrorCode::Unavailable, up ? "" : up.error().message);
  const bool tried = up && era_ == Era::Unknown && settings_.era.era == Era::Modern;
  if (tried) (void)co_await probe();
  if (up && era_ != Era::Modern && !settings_.era.excludes(Era::Legacy)) {
    answer = co_await parts_.server.ask("initialize", params_, settings_.limits.opening);
  }
  if (answer && !answer->is_error()) {
    if (tried) learn_era(Era::Legacy);
    era_ = Era::Legacy;
    unopened_.reset();
    Result<Message> shown = co_await parts_.tools.shown("initialize", std::move(*answer));
    opening_ = shown ? result_in(*shown) : "{}";
    if (initialized_) parts_.server.send(notification_text("notifications/initialized", {}));
    set_ready();
    co_return std::optional(std::move(shown));
  }
  const bool may_probe = up && !tried && !settings_.era.excludes(Era::Modern);
  const bool stateless =
      up && (era_ == Era::Modern || (may_probe && (co_await probe()).has_value()));
  if (stateless) {
    if (!tried) learn_era(Era::Modern);
    if (initialized_) listen_for_client();
    co_return std::optional<Result<Message>>();
  }
  if (answer) {
    co_return std::optional(co_await parts_.tools.shown("initialize", std::move(*answer)));
  }
  unopened_ = answer.error();
  co_return std::unexpected(answer.error());
}

void ServerOpening::wake() {
  if (opening_now_) return;
  if (parts_.client.era == Era::Modern) {
    if (ready_ || era_ != Era::Unknown) return;
    not_let_in_.reset();  // a person may have logged in meanwhile
    opening_now_ = true;
    parts_.tasks.start(open_stateless());
  } else if (unopened_) {
    opening_now_ = true;
    parts_.tasks.start(open_late());
  }
}

// The client has its session, since other servers have answered: one that could not be reached then
// is opened when it is asked for something.
Async<void> ServerOpening::open_late() {
  Result<void> opened = co_await wait_up();
  if (opened && !settings_.era.excludes(Era::Legacy)) {
    opened = co_await open_session(std::string(params_));
  }
  if (!opened && parts_.server.up() && !settings_.era.excludes(Era::Modern)) {
    opened = co_await probe();
    if (opened) listen_for_client();
  }
  opening_now_ = false;
  unopened_ = opened ? std::nullopt : std::optional(opened.error());
}

// A stateless client has sent its first request.
Async<void> ServerOpening::open_stateless() {
  Result<void> opened = co_await wait_up();
  const bool sessions_first = settings_.era.era == Era::Legacy;
  if (opened && sessions_first) opened = fail(ErrorCode::NotFound, "the server is not stateless");
  if (opened) opened = co_await probe();
  // One that says nothing may only be slow to start; that is no sign of its era.
  const bool refused = !opened && opened.error().code != ErrorCode::Deadline;
  if (!opened && parts_.server.up() && !settings_.era.excludes(Era::Legacy)) {
    opened = co_await open_session(own_params());
    if (opened && refused && !sessions_first) learn_era(Era::Legacy);
  }
  // It may have been silent before because it was not there yet.
  if (!opened && parts_.server.up() && !settings_.era.excludes(Era::Modern)) {
    opened = co_await probe();
    if (opened && sessions_first) learn_era(Era::Modern);
  }
  opening_now_ = false;
  // To wait would not help.
  if (!opened && opened.error().cause == kNotLetIn) not_let_in_ = opened.error();
  if (!opened) settings_.log("the server does not open: " + opened.error().message);
}

// The params of `initialize` for a client that has none.
std::string ServerOpening::own_params() const {
  const json::object& capabilities = parts_.client.capabilities;
  json::object offered;
  for (const char* const name : {"sampling", "elicitation", "roots"}) {
    // A later client may have more capabilities; a client that cannot answer is not asked.
    if (settings_.offers_all || capabilities.contains(name)) offered[name] = json::object();
  }
  if (json::value* const asks = offered.if_contains("elicitation")) {
    const json::object* const known = object_in(capabilities, "elicitation");
    for (const char* const mode : {"form", "url"}) {
      const bool can = settings_.offers_all || (known != nullptr && known->contains(mode));
      if (can) asks->get_object()[mode] = json::object();
    }
  }
  const std::string& name = parts_.client.name;
  return json::serialize(json::object{
      {"protocolVersion", kLegacyVersion},
      {"capabilities", std::move(offered)},
      {"clientInfo", json::object{{"name", name.empty() ? "sallyport" : name}, {"version", "0"}}}});
}

// The era that was tried first is not the server's: next time this is known before.
void ServerOpening::learn_era(Era era) const {
  if (settings_.era.learned) settings_.era.learned(era);
}

// Is it a stateless server? Then it is ready.
Task<void> ServerOpening::probe() {
  const std::string params = modern_params("{}", parts_.standing.client_facts());
  SALLYPORT_CO_TRY(Message answer,
                   co_await parts_.server.ask("server/discover", params, settings_.limits.probe));
  if (answer.is_error() && !is_modern_error(answer)) {
    co_return fail(ErrorCode::NotFound, "the server is not stateless");
  }
  era_ = Era::Modern;
  SALLYPORT_CO_TRY(const Message shown,
                   co_await parts_.tools.shown("server/discover", std::move(answer)));
  discovery_ = result_in(shown);
  set_ready();
  co_return Result<void>{};
}

Task<void> ServerOpening::open_session(std::string params) {
  params_ = std::move(params);
  SALLYPORT_CO_TRY(Message answer,
                   co_await parts_.server.ask("initialize", params_, settings_.limits.opening));
  if (answer.is_error()) co_return fail(ErrorCode::Unavailable, "the server refuses `initialize`");
  SALLYPORT_CO_TRY(const Message shown,
                   co_await parts_.tools.shown("initialize", std::move(answer)));
  era_ = Era::Legacy;
  opening_ = result_in(shown);
  initialized_ = true;
  parts_.server.send(notification_text("notifications/initialized", {}));
  co_await parts_.standing.tell_log_level(opening_);
  set_ready();
  co_return Result<void>{};
}

void ServerOpening::started(bool again) {
  ++generation_;
  parts_.tools.forget();
  bell_.ring(kUp);
  if (!again || era_ == Era::Unknown) return;
  if (era_ == Era::Legacy) return parts_.tasks.start(reopen());
  set_ready();
  listen_for_client();
  parts_.listener.server_returned();
}

// The new process knows nothing of what was agreed with the old one.
Async<void> ServerOpening::reopen() {
  const std::uint64_t generation = generation_;
  const Result<Message> answer =
      co_await parts_.server.ask("initialize", params_, settings_.limits.start);
  if (generation != generation_) co_return;
  if (!answer || answer->is_error()) {
    settings_.log("the server was started again and does not open");
    co_return;
  }
  if (initialized_) parts_.server.send(notification_text("notifications/initialized", {}));
  co_await parts_.standing.repeat();
  if (generation != generation_) co_return;
  set_ready();
  parts_.listener.server_returned();
}

void ServerOpening::ended() {
  ready_ = false;
  parts_.standing.forget_listening();
}

// Coroutines that wait for the server learn the reason.
void ServerOpening::give_up(Error why) {
  gave_up_ = std::move(why);
  bell_.ring(kReady);
}

void ServerOpening::set_ready() {
  ready_ = true;
  parts_.server.ready();
  bell_.ring(kReady);
}

void ServerOpening::listen_for_client() {
  const bool bridges = parts_.client.era == Era::Legacy && era_ == Era::Modern;
  if (bridges && ready_) parts_.tasks.start(parts_.standing.listen(discovery_));
}

Task<void> ServerOpening::wait_up() {
  const auto last = parts_.clock.steady() + settings_.limits.start;
  while (!parts_.server.up()) {
    if (gave_up_) co_return std::unexpected(*gave_up_);
    if (parts_.clock.steady() >= last) {
      co_return fail(ErrorCode::Unavailable, "the server is not running");
    }
    co_await bell_.wait(kUp, std::chrono::milliseconds(200), {});
  }
  co_return Result<void>{};
}

Task<void> ServerOpening::wait_ready(std::chrono::milliseconds longest) {
  const auto last = parts_.clock.steady() + longest;
  while (!ready_) {
    if (gave_up_) co_return std::unexpected(*gave_up_);
    if (not_let_in_ && !opening_now_) co_return std::unexpected(*not_let_in_);
    if (unopened_ && !opening_now_) co_return std::unexpected(*unopened_);
    if (parts_.clock.steady() >= last && !parts_.server.logging_in()) {
      co_return fail(ErrorCode::Unavailable, "the server is not running");
    }
    co_await bell_.wait(kReady, std::chrono::milliseconds(200), {});
  }
  co_return Result<void>{};
}

}  // namespace sallyport::mcp
