#include "mcp/gateway.h"

#include <boost/json.hpp>

#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace asio = boost::asio;

Gateway::Gateway(asio::any_io_executor executor, Parts parts, Settings settings,
                 std::unique_ptr<ClientLink> client)
    : parts_(std::move(parts)),
      settings_(std::move(settings)),
      tasks_(executor, settings_.log),
      door_({parts_.plans, parts_.recorder, parts_.redactor, parts_.clock, tasks_},
            {{.session_id = settings_.session_id,
              .agent_id = settings_.agent_id,
              .server = settings_.name},
             settings_.limits,
             settings_.log}),
      client_(executor, door_, {settings_.limits, settings_.log}, std::move(client)),
      server_(executor,
              {parts_.clock, parts_.redactor, parts_.pins, door_, tasks_, client_.profile(), *this,
               parts_.meter},
              {settings_.name, settings_.make_server, settings_.era, settings_.shared,
               settings_.command, settings_.limits, settings_.log}),
      desk_(settings_.limits),
      owners_(parts_.recorder, settings_.serves_others ? settings_.name : std::string(),
              settings_.agent_id),
      context_{executor, parts_,  settings_, tasks_,  bell_, door_,
               client_,  server_, desk_,     owners_, self_},
      bridge_(context_),
      call_tasks_(context_, bridge_),
      listeners_(context_, call_tasks_),
      approvals_(context_, bridge_, call_tasks_),
      parked_(context_),
      questions_(context_, parked_),
      handed_(context_),
      calls_({context_, bridge_, questions_, call_tasks_, approvals_, handed_}),
      relay_(context_, bridge_, call_tasks_, listeners_) {}

Task<void> Gateway::run() {
  self_ = weak_from_this();
  tasks_.start(keep_server());
  tasks_.start(watch());
  ClientLink& link = client_.link();
  net::TaskGroup writing(context_.executor, settings_.log);
  writing.start(link.run());
  while (!stopping_ && !link.broken()) {
    std::optional<Message> message = co_await client_.next();
    if (!message) break;
    hear(std::move(*message));
    co_await client_.room();
  }
  stopping_ = true;
  server_.expect_end();
  co_await end();
  link.close();
  (void)co_await writing.join(settings_.limits.patience);
  writing.cancel();
  if (gave_up_) co_return std::unexpected(*gave_up_);
  co_return Result<void>{};
}

void Gateway::stop() {
  stopping_ = true;
  hurries_ = true;
  server_.expect_end();
  client_.link().hang_up();
}

Async<void> Gateway::keep_server() {
  const Result<void> kept = co_await server_.run();
  if (kept) co_return;
  gave_up_ = kept.error();
  stop();
}

// Calls in flight get a moment to finish, then they are recorded as cancelled; then the server is
// ended.
Async<void> Gateway::end() {
  // A server that is still starting has not had its chance.
  const auto begin = parts_.clock.steady();
  const auto patience = [&] {
    return server_.opening().ready() ? settings_.limits.last_answers : settings_.limits.start / 3;
  };
  const auto in_flight = [&] {
    return desk_.count(HeldCall::State::Queued, HeldCall::State::Running) > 0 ||
           client_.unanswered() > 0;
  };
  while (!hurries_ && !client_.link().broken() && in_flight() &&
         parts_.clock.steady() - begin < patience()) {
    co_await bell_.wait("ended", std::chrono::milliseconds(20), {});
  }
  parked_.stop();
  desk_.stop_all();
  questions_.stop_all();
  watching_.request_stop();
  const auto last = parts_.clock.steady() + settings_.limits.start;
  while (desk_.busy() && parts_.clock.steady() < last) {
    co_await bell_.wait("ended", std::chrono::milliseconds(20), {});
  }
  co_await client_.link().flush(settings_.limits.patience);
  co_await server_.stop();
  door_.hurry();
  if (!co_await tasks_.join(4 * settings_.limits.patience)) tasks_.cancel();
  // Calls keep a gateway that is shared; it does not keep them in turn.
  desk_.clear();
}

// Looks for what people in other processes have done: tools that they accepted, and proposals that
// they answered. One look at the log serves all gateways of a process; where it has not grown, only
// what no entry tells is looked for, such as the end of a process that had a proposal.
Async<void> Gateway::watch() {
  constexpr int kAnyway = 10;
  const std::stop_token cancel = watching_.get_token();
  core::LogWatch& log = parts_.governor.approvals().log();
  bool complained = false;
  std::uint64_t seen = 0;
  int quiet = 0;
  while (!cancel.stop_requested()) {
    co_await bell_.wait("proposals", settings_.limits.proposals, cancel);
    if (cancel.stop_requested()) co_return;
    if (!log.grown(seen) && ++quiet < kAnyway) continue;
    quiet = 0;
    if (server_.tools().take_accepted()) listeners_.tell_tools_changed();
    const Result<void> ran = co_await calls_.run_answered(cancel);
    if (!ran && !std::exchange(complained, true)) {
      settings_.log("proposals cannot be run: " + ran.error().message);
    }
  }
}

Async<void> Gateway::server_asks(Message request) {
  door_.note_trimmed(Side::Server, request, request.method);
  if (!door_.may_ask(Side::Server, request)) {
    server_.link().send(error_text(request.id, kMethodNotFound, unknown_method(request.method)));
    co_return;
  }
  co_await questions_.hear(std::move(request));
}

Async<void> Gateway::server_tells(Message notification) {
  const std::string method = notification.method;
  door_.note_trimmed(Side::Server, notification, method);
  if (!door_.passes(Side::Server, notification)) co_return;
  if (method == "notifications/progress" && calls_.hear_progress(notification)) co_return;
  if (method == "notifications/cancelled" && notification.params() != nullptr) {
    co_return co_await questions_.take_back(std::move(notification));
  }
  // Some servers report every task to every client.
  if (method.starts_with("notifications/tasks") &&
      owners_.is_foreign(task_named_by(notification))) {
    co_return;
  }
  if (method == "notifications/tasks" && notification.params() != nullptr) {
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
  Result<Message> passed = co_await door_.release(method, std::move(notification));
  if (!passed) co_return;
  if (!listeners_.tell(*passed)) {
    // What is said during a call is mostly about it; lists change by themselves.
    const bool aside = method.ends_with("changed") || method.ends_with("updated");
    const CallDesk::Held newest = aside ? nullptr : desk_.newest();
    client_.send(std::move(passed->text), newest ? newest->client_id() : std::string());
  }
  co_await client_.room();
}

}  // namespace sallyport::mcp
