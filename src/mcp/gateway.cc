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
      door_({parts_.plans, parts_.recorder, parts_.governor.escalations(), parts_.redactor,
             parts_.clock, tasks_},
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
    on_message(std::move(*message));
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

// Open calls get a moment to finish. The others are recorded as cancelled, and then the server is
// ended.
Async<void> Gateway::end() {
  // A server that is still starting gets the time to answer.
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
  client_.end_all(gave_up_ ? std::string_view(gave_up_->message) : "the gateway ends");
  co_await client_.link().flush(settings_.limits.patience);
  co_await server_.stop();
  door_.hurry();
  if (!co_await tasks_.join(4 * settings_.limits.patience)) tasks_.cancel();
  // Calls keep a shared gateway alive. The gateway does not keep them alive in turn.
  desk_.clear();
}

// Watches for the acts of people in other processes: accepted tools and answered proposals. One
// check of the log serves all gateways of a process. Without new entries a full check is rare; it
// finds changes without an entry, such as the end of a process that had a proposal.
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
    if (server_.tools().take_accepted()) listeners_.notify_tools_changed();
    const Result<void> ran = co_await calls_.run_answered(cancel);
    if (!ran && !std::exchange(complained, true)) {
      settings_.log("proposals cannot be run: " + ran.error().message);
    }
  }
}

Async<void> Gateway::on_server_request(Message request) {
  door_.note_trimmed(Side::Server, request, request.method);
  if (!door_.may_ask(Side::Server, request)) {
    server_.link().send(error_text(request.id, kMethodNotFound, unknown_method(request.method)));
    co_return;
  }
  co_await questions_.on_request(std::move(request));
}

Async<void> Gateway::on_server_notification(Message notification) {
  const std::string method = notification.method;
  door_.note_trimmed(Side::Server, notification, method);
  if (!door_.passes(Side::Server, notification)) co_return;
  if (method == "notifications/progress") {
    co_return co_await on_server_progress(std::move(notification));
  }
  if (method == "notifications/cancelled" && notification.params() != nullptr) {
    co_return co_await questions_.take_back(std::move(notification));
  }
  // Some servers report every task to every client.
  if (method.starts_with("notifications/tasks") &&
      owners_.is_foreign(task_named_by(notification))) {
    co_return;
  }
  if (method == "notifications/tasks" && notification.params() != nullptr) {
    // The result and the questions of a task come only as the answer to `tasks/get`, which is
    // recorded.
    std::string rest(notification.params_text());
    for (const char* const name : {"result", "error", "inputRequests"}) {
      rest = without_member(rest, name);
    }
    if (!notification.replace("params", rest, settings_.limits.json())) co_return;
  }
  Result<Message> passed =
      co_await door_.release(method, std::move(notification), desk_.holds_granted());
  if (!passed) co_return;
  if (!listeners_.notify(*passed)) {
    // A message during a call is usually about that call, but lists change independently.
    const bool aside = method.ends_with("changed") || method.ends_with("updated");
    const CallDesk::Held newest = aside ? nullptr : desk_.newest();
    client_.send(std::move(passed->text), newest ? newest->client_id() : std::string());
  }
  co_await client_.room();
}

// Progress is told for tokens of open requests alone. A guard sees that of a call as a part of its
// result.
Async<void> Gateway::on_server_progress(Message notification) {
  if (calls_.on_progress(notification)) co_return;
  const std::string token = progress_token(notification);
  auto* const request = client_.of_token(token);
  ToldProgress* const told = request ? &request->second.progress : desk_.of_task_token(token);
  if (told == nullptr || !told->rises(notification)) co_return;
  const std::string about = request ? request->first : std::string();
  const std::string method = notification.method;
  Result<Message> passed =
      co_await door_.release(method, std::move(notification), desk_.holds_granted());
  if (!passed || (!about.empty() && !client_.is_open(about))) co_return;
  client_.send(std::move(passed->text), about);
  co_await client_.room();
}

}  // namespace sallyport::mcp
