#include "mcp/gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "mcp/json_text.h"

namespace sallyport::mcp {

namespace asio = boost::asio;

namespace {
constexpr std::string_view kReady = "ready";
}  // namespace

Gateway::Gateway(asio::any_io_executor executor, Parts parts, Settings settings,
                 std::unique_ptr<ClientLink> client)
    : executor_(executor),
      parts_(parts),
      settings_(std::move(settings)),
      client_(std::move(client)),
      tasks_(executor, settings_.log),
      messages_(parts_.recorder, parts_.redactor,
                {.session_id = settings_.session_id,
                 .agent_id = settings_.agent_id,
                 .server = settings_.name}),
      screen_(parts_.plans, parts_.recorder, parts_.clock,
              [this](const Screen::Seen& seen) {
                note(seen.withheld ? MessageLog::What::Withheld : MessageLog::What::Redacted,
                     Side::Server, seen.method, seen.evidence);
              }),
      own_server_(settings_.make_server({executor, settings_.limits, *this, settings_.log,
                                         [this](std::string_view line) {
                                           settings_.log(
                                               fmt::format("[{}] {}", settings_.name, line));
                                         }})),
      server_(*own_server_),
      bridge_(parts_.recorder, settings_.name),
      tasks_of_server_(parts_.recorder, settings_.serves_others ? settings_.name : std::string(),
                       settings_.agent_id) {}

Task<void> Gateway::run() {
  tasks_.start(keep_server());
  tasks_.start(run_proposals());
  net::TaskGroup writing(executor_, settings_.log);
  writing.start(client_->run());
  while (!stopping_ && !client_->broken()) {
    std::optional<net::Line> line = co_await client_->next();
    if (!line) break;
    co_await hear_client(std::move(*line));
  }
  stopping_ = true;
  co_await end();
  client_->close();
  (void)co_await writing.join(settings_.limits.patience);
  writing.cancel();
  if (gave_up_) co_return std::unexpected(*gave_up_);
  co_return Result<void>{};
}

void Gateway::stop() {
  stopping_ = true;
  hurries_ = true;
  client_->hang_up();
}

bool Gateway::holds_calls() const {
  const auto runs = [](const auto& one) { return !one.second->ended_at; };
  return !calls_.empty() || !parked_.empty() || std::ranges::any_of(away_, runs) ||
         std::ranges::any_of(given_, runs);
}

// Calls in flight get a moment to finish, then they are recorded as cancelled; then the server is
// ended.
Async<void> Gateway::end() {
  // A server that is still starting has not had its chance.
  const auto begin = parts_.clock.steady();
  const auto patience = [&] {
    return ready_ ? settings_.limits.last_answers : settings_.limits.start / 3;
  };
  const auto in_flight = [&] { return !calls_.empty() || relayed_.size() > endless_.size(); };
  while (!hurries_ && !client_->broken() && in_flight() &&
         parts_.clock.steady() - begin < patience()) {
    co_await bell_.wait("ended", std::chrono::milliseconds(20), {});
  }
  bell_.ring("parked");
  for (const auto& [id, governed] : calls_) governed->stop.request_stop();
  for (const auto& [state, governed] : parked_) governed->stop.request_stop();
  for (const auto& [identity, governed] : away_) governed->stop.request_stop();
  for (const auto& [id, governed] : given_) governed->stop.request_stop();
  for (const auto& [id, asking] : std::map(asking_)) asking->stop.request_stop();
  proposals_.request_stop();
  bell_.ring("proposals");
  const auto busy = [&] {
    const auto runs = [](const auto& one) { return !one.second->ended_at; };
    return running_ > 0 || !calls_.empty() || std::ranges::any_of(away_, runs) ||
           std::ranges::any_of(given_, runs);
  };
  const auto last = parts_.clock.steady() + settings_.limits.start;
  while (busy() && parts_.clock.steady() < last) {
    co_await bell_.wait("ended", std::chrono::milliseconds(20), {});
  }
  co_await client_->flush(settings_.limits.patience);
  co_await server_.stop();
  messages_.hurry();
  if (!co_await tasks_.join(4 * settings_.limits.patience)) tasks_.cancel();
  // Calls keep a gateway that is shared; it does not keep them in turn.
  waiting_.clear();
  parked_.clear();
  tokens_.clear();
  calls_.clear();
  away_.clear();
  given_.clear();
}

Async<void> Gateway::keep_server() {
  const Result<void> kept = co_await server_.run();
  if (kept) co_return;
  gave_up_ = kept.error();
  // Coroutines that wait for the server's initialization learn the reason before the gateway ends.
  bell_.ring(std::string(kReady));
  stop();
}

void Gateway::server_started(bool again) {
  ++generation_;
  tools_known_ = false;
  if (again && parts_.meter != nullptr) parts_.meter->server_started_again(settings_.name);
  bell_.ring("up");
  if (!again || server_era_ == Era::Unknown) return;
  if (server_era_ == Era::Legacy) {
    tasks_.start(reopen());
  } else {
    set_ready();
    listen_for_client();
    tell_of_return();
  }
}

void Gateway::server_ended(const std::string& how) {
  ready_ = false;
  listening_ = 0;
  if (!stopping_) settings_.log(how);
}

void Gateway::set_ready() {
  ready_ = true;
  server_.ready();
  bell_.ring(std::string(kReady));
}

// The new process knows nothing of what was agreed with the old one.
Async<void> Gateway::reopen() {
  const std::uint64_t generation = generation_;
  const Result<Message> answer =
      co_await server_.ask("initialize", opening_, settings_.limits.start);
  if (generation != generation_) co_return;
  if (!answer || answer->is_error()) {
    settings_.log("the server was started again and does not open");
    co_return;
  }
  if (opened_) server_.send(notification_text("notifications/initialized", {}));
  if (!log_level_.empty()) {
    (void)co_await server_.ask("logging/setLevel", log_level_, settings_.limits.start);
  }
  for (const std::string& params : std::set<std::string>(subscriptions_)) {
    (void)co_await server_.ask("resources/subscribe", params, settings_.limits.start);
  }
  if (generation != generation_) co_return;
  set_ready();
  tell_of_return();
}

Task<void> Gateway::server_up() {
  const auto last = parts_.clock.steady() + settings_.limits.start;
  while (!server_.up()) {
    if (gave_up_) co_return std::unexpected(*gave_up_);
    if (parts_.clock.steady() >= last) {
      co_return fail(ErrorCode::Unavailable, "the server is not running");
    }
    co_await bell_.wait("up", std::chrono::milliseconds(200), {});
  }
  co_return Result<void>{};
}

Task<void> Gateway::server_ready(std::chrono::milliseconds longest) {
  const auto last = parts_.clock.steady() + longest;
  while (!ready_) {
    if (gave_up_) co_return std::unexpected(*gave_up_);
    if (not_let_in_ && !opening_now_) co_return std::unexpected(*not_let_in_);
    if (unopened_ && !opening_now_) co_return std::unexpected(*unopened_);
    if (parts_.clock.steady() >= last && !server_.logging_in()) {
      co_return fail(ErrorCode::Unavailable, "the server is not running");
    }
    co_await bell_.wait(std::string(kReady), std::chrono::milliseconds(200), {});
  }
  co_return Result<void>{};
}

// Counts what has no record of its own.
void Gateway::note(MessageLog::What what, Side from, std::string_view method,
                   const std::string& evidence) {
  if (messages_.note(what, from, method, evidence)) tasks_.start(messages_.write());
}

void Gateway::note_trimmed(Side from, const Message& message, std::string_view method) {
  if (message.dropped == 0) return;
  if (!std::exchange(told_of_trimmed_, true)) {
    settings_.log(
        fmt::format("the {} sends messages with members that belong to no message; they "
                    "are left out, and the ledger counts them (topic `mcp`)",
                    to_string(from)));
  }
  note(MessageLog::What::Trimmed, from, method);
}

// May a notification pass? One that the protocol does not have is dropped unless the policy names
// its method.
bool Gateway::passes(Side from, const Message& notification) {
  if (is_known(from, notification)) return true;
  // A request without an id is none that could be governed, and some servers run it all the same.
  const bool allowed = notification.method.starts_with("notifications/") &&
                       parts_.plans.current()->passes_method(notification.method);
  note(allowed ? MessageLog::What::Passed : MessageLog::What::Dropped, from, notification.method);
  return allowed;
}

// May the server ask this? What the protocol does not have is refused unless the policy names it.
bool Gateway::may_ask(const Message& request) {
  if (is_known(Side::Server, request)) return true;
  if (parts_.plans.current()->passes_method(request.method)) return true;
  note(MessageLog::What::Refused, Side::Server, request.method);
  return false;
}

Async<void> Gateway::server_asks(Message request) {
  if (request.method == "ping") {
    server_.send(result_text(request.id, "{}"));
    co_return;
  }
  note_trimmed(Side::Server, request, request.method);
  if (!may_ask(request)) {
    server_.send(error_text(request.id, kMethodNotFound, unknown_method(request.method)));
    co_return;
  }
  const bool can = client_era_ == Era::Modern
                       ? call_to_ask(request.method, request.params_text()) != nullptr
                       : may_be_asked(request.method, request.params_text(), client_capabilities_);
  if (!can || asking_.size() >= settings_.limits.requests || asking_.contains(request.id)) {
    decline(request);
    co_return;
  }
  const auto asking = std::make_shared<Asking>();
  asking->about = newest_call();
  asking_[request.id] = asking;
  tasks_.start(answer_server(std::move(request), asking));
  co_await client_->room(settings_.limits.start);
}

Async<void> Gateway::server_tells(Message notification) {
  note_trimmed(Side::Server, notification, notification.method);
  if (!passes(Side::Server, notification)) co_return;
  const json::object* const params = notification.params();
  if (notification.method == "notifications/progress" && params != nullptr) {
    const json::value* const token = params->if_contains("progressToken");
    const auto found = token ? tokens_.find(canonical_json(*token)) : tokens_.end();
    if (found != tokens_.end()) {
      found->second->upstream->inbox().put(std::move(notification));
      co_return;
    }
  }
  if (notification.method == "notifications/cancelled" && params != nullptr) {
    const json::value* const id = params->if_contains("requestId");
    const auto found = id ? asking_.find(canonical_json(*id)) : asking_.end();
    if (found == asking_.end()) co_return;
    const std::shared_ptr<Asking> asking = found->second;
    const Result<std::string> passed = co_await screen_.pass(notification.method, notification);
    if (passed) asking->why = std::string(find(*passed, {"params"}).value_or("{}"));
    asking->stop.request_stop();
    co_return;
  }
  if (notification.method == "notifications/tools/list_changed") {
    tools_known_ = false;
    ++list_changes_;
    unlisted_ = 0;  // it may want to list them now
  }
  // Some servers report every task to every client.
  if (notification.method.starts_with("notifications/tasks") &&
      tasks_of_server_.is_foreign(task_named_by(notification))) {
    co_return;
  }
  if (notification.method == "notifications/tasks" && params != nullptr) {
    // What came of a task, and what it asks for, is recorded when it is asked for (`tasks/get`),
    // and comes in no other way.
    std::string rest(notification.params_text());
    for (const char* const name : {"result", "error", "inputRequests"}) {
      rest = without_member(rest, name);
    }
    Result<Message> bare =
        Message::read(with_member(notification.text, "params", rest), settings_.limits.json());
    if (!bare) co_return;
    notification = std::move(*bare);
  }
  const Result<std::string> passed = co_await screen_.pass(notification.method, notification);
  if (!passed) co_return;
  notification.text = *passed;
  if (!tell_across(notification)) {
    // What is said during a call is mostly about it; lists change by themselves.
    const bool aside =
        notification.method.ends_with("changed") || notification.method.ends_with("updated");
    to_client(std::move(notification.text), aside ? std::string() : newest_call());
  }
  co_await client_->room(settings_.limits.start);
}

}  // namespace sallyport::mcp
