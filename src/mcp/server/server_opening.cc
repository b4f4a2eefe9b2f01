#include "mcp/server/server_opening.h"

#include <algorithm>
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

// Most servers are of the client's era, so it is tried first, unless the server is known to be of
// the other era.
Task<std::optional<Result<Message>>> ServerOpening::open(std::string params) {
  params_ = std::move(params);
  Result<void> reached = co_await wait_up();
  const bool up = reached.has_value();
  const bool tried = up && era_ == Era::Unknown && settings_.era.era == Era::Modern;
  if (tried) reached = co_await probe();
  Result<Message> answer = std::unexpected(reached ? Error{} : reached.error());
  if (up && era_ != Era::Modern && !settings_.era.excludes(Era::Legacy)) {
    answer = co_await parts_.server.ask("initialize", params_, settings_.limits.opening);
  }
  if (answer && !answer->is_error()) {
    if (tried) report_era(Era::Legacy);
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
    if (!tried) report_era(Era::Modern);
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
    login_required_.reset();  // a person may have logged in meanwhile
    opening_now_ = true;
    parts_.tasks.start(open_stateless());
  } else if (unopened_) {
    opening_now_ = true;
    parts_.tasks.start(open_late());
  }
}

// The client already has its session with other servers. A server that could not be reached then is
// opened with the next request to it.
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
  // A silent server may only be slow to start, which says nothing about its era.
  const bool refused = !opened && opened.error().code != ErrorCode::Deadline;
  if (!opened && parts_.server.up() && !settings_.era.excludes(Era::Legacy)) {
    opened = co_await open_session(own_params());
    if (opened && refused && !sessions_first) report_era(Era::Legacy);
  }
  // The server may have been silent because it had not started yet.
  if (!opened && parts_.server.up() && !settings_.era.excludes(Era::Modern)) {
    opened = co_await probe();
    if (opened && sessions_first) report_era(Era::Modern);
  }
  opening_now_ = false;
  // Requests fail at once, because waiting would not help.
  if (!opened && opened.error().cause == kLoginRequired) login_required_ = opened.error();
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

// Reports that the server is not of the era that was tried first, so that the next start knows it.
void ServerOpening::report_era(Era era) const {
  if (settings_.era.on_found) settings_.era.on_found(era);
}

// Asks whether the server is stateless. If it is, it is ready.
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
  co_await parts_.standing.send_log_level(opening_);
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

// The new process has no state of the old one, so it is opened again. A process that does not open
// is asked again until it ends.
Async<void> ServerOpening::reopen() {
  const std::uint64_t generation = generation_;
  auto wait = settings_.limits.first_backoff;
  while (true) {
    const Result<Message> answer =
        co_await parts_.server.ask("initialize", params_, settings_.limits.opening);
    if (generation != generation_) co_return;
    if (answer && !answer->is_error()) break;
    if (wait == settings_.limits.first_backoff) {
      settings_.log("the server was started again and does not open");
    }
    co_await bell_.wait(kUp, wait, {});
    if (generation != generation_ || !parts_.server.up()) co_return;
    wait = std::min(2 * wait, settings_.limits.longest_backoff);
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

// Coroutines that wait for the server get this error.
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
    if (login_required_ && !opening_now_) co_return std::unexpected(*login_required_);
    if (unopened_ && !opening_now_) co_return std::unexpected(*unopened_);
    if (parts_.clock.steady() >= last && !parts_.server.logging_in()) {
      co_return fail(ErrorCode::Unavailable,
                     parts_.server.up()
                         ? "the server runs, but did not answer its first request in time"
                         : "the server is not running");
    }
    co_await bell_.wait(kReady, std::chrono::milliseconds(200), {});
  }
  co_return Result<void>{};
}

}  // namespace sallyport::mcp
