#include "mcp/call/governed_calls.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/call/ending.h"
#include "core/handoff/continued_call.h"
#include "core/handoff/waiting_facts.h"
#include "mcp/message/dispatch_in_meta.h"
#include "mcp/message/grant_in_meta.h"
#include "mcp/message/json_text.h"
#include "mcp/message/model_call_in_meta.h"
#include "mcp/message/notices.h"
#include "telemetry/span.h"

namespace sallyport::mcp {

namespace {

// The id of the client's trace; empty: it names none.
std::string trace_of(const Message& request) {
  const json::object* const meta = request.meta();
  if (meta == nullptr) return {};
  const auto trace = telemetry::TraceContext::parse(text_or_empty(*meta, "traceparent"));
  return trace ? trace->trace_id() : std::string();
}

// A call whose client does not wait gets its id when the client returns.
std::string response_id(const HeldCall& call) {
  const std::string id = call.client_id();
  return id.empty() ? "null" : id;
}

}  // namespace

// Reports to `ApprovalWait` that a call of the client waits for a person.
class GovernedCalls::Attendant final : public core::Attendant {
 public:
  Attendant(GovernedCalls& calls, CallDesk::Held call) : calls_(calls), call_(std::move(call)) {}

  void asked(const core::WaitingCall& waiting) override {
    const GatewayContext& context = calls_.context_;
    call_->waits = waiting;
    call_->approval_id = waiting.approval_id;
    // A call that waits for a person gives up its place, unless too many calls wait.
    using enum HeldCall::State;
    const std::size_t held = context.desk.count(Queued, Running) + context.desk.count(Away, Away);
    if (held < context.settings.limits.waiting_calls) calls_.leave_place(*call_);
    if (context.parts.waiting) context.parts.waiting(waiting);
    context.tasks.start(calls_.parts_.approvals.attend(call_));
  }
  void answered() override { calls_.parts_.approvals.end(*call_); }
  bool away() const override { return call_->state == HeldCall::State::Away; }

 private:
  GovernedCalls& calls_;
  CallDesk::Held call_;  // shared with the desk
};

// Frees the place of a call and ends all waits for it, however it ends.
class GovernedCalls::Place {
 public:
  Place(GovernedCalls& calls, CallDesk::Held call) : calls_(calls), call_(std::move(call)) {}
  Place(const Place&) = delete;
  ~Place() {
    const std::string client_id = call_->client_id();
    if (call_->response.empty() && !call_->cancelled && !client_id.empty()) {
      calls_.context_.client.send(error_text(client_id, kInternalError, "the call failed"));
    }
    calls_.context_.desk.finish(call_);
    calls_.leave_place(*call_);
  }

 private:
  GovernedCalls& calls_;
  CallDesk::Held call_;  // shared with the desk
};

Grants GovernedCalls::take_grants(Message& request) const {
  Call presented;
  take_grant(request, presented);
  if (presented.grants.empty() && !context_.settings.grant.empty()) {
    presented.grants.push_back(context_.settings.grant);
  }
  return std::move(presented.grants);
}

void GovernedCalls::begin(Message request, Grants grants, net::Quota::Share held) {
  const std::string client_id = request.id;
  Result<CallParams> call_params = read_call_params(request);
  if (!call_params)
    return context_.client.refuse(request, kInvalidParams, call_params.error().message);
  const std::string server_token = progress_token(request);
  const Result<CallDesk::Held> call =
      held_call(std::move(request), std::move(*call_params), std::move(grants), std::move(held));
  if (!call) {
    return context_.client.send(error_text(client_id, kInvalidParams, call.error().message));
  }
  if (!server_token.empty()) {
    (*call)->client_token = server_token;
    context_.desk.note_token(server_token, *call);
  }
  context_.desk.add(*call, client_id);
  start_queued();
}

Result<CallDesk::Held> GovernedCalls::held_call(Message request, CallParams call_params,
                                                Grants grants, net::Quota::Share held) {
  const GatewaySettings& settings = context_.settings;
  const ClientProfile& client = context_.client.profile();
  const auto call = std::make_shared<HeldCall>();
  call->received = context_.parts.clock.steady();
  call->capabilities = client.capabilities;
  call->call = {.agent_id = settings.agent_id,
                .session_id = settings.session_id,
                .trace_id = trace_of(request),
                .server = settings.name,
                .tool = call_params.tool,
                .input = call_params.input,
                .raw_input = call_params.raw_input,
                .agent_name = client.name,
                .grants = std::move(grants),
                .setting = settings.setting};
  call->call.setting.interactive = client.capabilities.contains("elicitation");
  SALLYPORT_CHECK_OK(take_dispatch(request, call->call));
  call->upstream = context_.server.upstream({.server = context_.server,
                                             .client = &parts_.client,
                                             .owners = &context_.owners,
                                             .clock = &context_.parts.clock,
                                             .keep = context_.self.lock(),
                                             .held = std::move(held)},
                                            std::move(request), std::move(call_params));
  return call;
}

void GovernedCalls::start_queued() {
  while (const CallDesk::Held next = context_.desk.start_next()) context_.tasks.start(run(next));
}

void GovernedCalls::leave_place(HeldCall& call) {
  if (!context_.desk.leave_place(call)) return;
  context_.bell.ring("ended");
  start_queued();
}

Async<void> GovernedCalls::run(CallDesk::Held call) {
  const Place place(*this, call);
  if (call->upstream->request().method == "tools/call") {
    co_await context_.server.tools().refresh(call->call.tool);
    if (refuse_headers(call)) co_return;
  }
  core::Caller caller{.cancel = call->stop.get_token()};
  caller.progress = [this, raw = call.get()](const json::value& released) {
    forward_progress(*raw, released);
  };
  caller.attendant = std::make_shared<Attendant>(*this, call);
  const SteadyTime begin = context_.parts.clock.steady();
  const Result<Answer> answer = co_await core::run_model_call(
      context_.parts.governor, call->call, model_call_id(call->upstream->request()), call->upstream,
      std::move(caller));
  count(*call, begin, answer);
  call->response = co_await released(call, answer);
  for (const auto& [key, question] : call->open) question.answer->stop();
  if (call->state == HeldCall::State::Task) {
    call->ended_at = context_.parts.clock.steady();
    if (!call->cancelled) parts_.tasks.notify(*call);
  }
  if (call->state == HeldCall::State::Away) {
    parts_.approvals.end_away(call, answer && answer->outcome.kind == Outcome::Kind::Blocked);
  }
  // A parked call is answered when its client returns.
  if (call->cancelled || call->client_id().empty()) co_return;
  co_await context_.client.room();
  context_.client.send(with_member(call->response, "id", call->client_id()));
}

// The response as the client may see it. The id in it is unused.
Async<std::string> GovernedCalls::released(CallDesk::Held call, const Result<Answer>& answer) {
  const std::string& method = call->upstream->request().method;
  std::string response = response_to(*call, answer);
  if (method == "tools/call") {
    if (gives_task(response)) context_.desk.note_task(call);
    Result<void> noted = co_await context_.owners.note(
        response, context_.subject(answer ? answer->call_id : std::string()));
    if (!noted) {
      noted.error().where = core::kOutcome;  // a task that was begun
      response = unrecorded_to(*call, noted.error());
    }
  }
  co_return co_await parts_.questions.hand_over(
      parts_.bridge.translated(method, std::move(response)), call);
}

void GovernedCalls::count(const HeldCall& call, SteadyTime begin,
                          const Result<Answer>& answer) const {
  if (context_.parts.meter == nullptr) return;
  GatewayMeter::Ended ended{.method = call.upstream->request().method,
                            .received = call.received,
                            .governed = begin,
                            .answered = context_.parts.clock.steady(),
                            .server = call.upstream->span()};
  if (!answer) {
    ended.error = "not_recorded";
  } else if (answer->outcome.kind != Outcome::Kind::Completed &&
             answer->outcome.kind != Outcome::Kind::Cached) {
    ended.error = to_string(answer->outcome.kind);
  } else if (!answer->result.success) {
    ended.error = "tool_error";
  }
  ended.waited = !call.approval_id.empty() || (answer && !answer->approval_id.empty());
  context_.parts.meter->ended(ended);
  if (!context_.parts.meter->traces()) return;
  const std::string client_id = call.client_id();
  const json::object* const meta = call.upstream->request().meta();
  // A tool name that the server does not list may be any text.
  const bool known = context_.server.tool(call.call.tool) != nullptr;
  context_.parts.meter->trace(ended,
                              {.tool = known ? std::string_view(call.call.tool) : "",
                               .server = context_.settings.name,
                               .agent = context_.settings.agent_id,
                               .session = context_.settings.session_id,
                               .request = client_id,
                               .call = answer ? std::string_view(answer->call_id) : "",
                               .parent = meta ? text_in(*meta, "traceparent").value_or("") : "",
                               .local = !context_.settings.command.empty()},
                              context_.parts.clock);
}

// True: it was refused, because its headers contradict its arguments.
bool GovernedCalls::refuse_headers(const CallDesk::Held& call) {
  const ToolDefinition* const tool = context_.server.tool(call->call.tool);
  const json::value* const schema = tool ? tool->pinned.if_contains("inputSchema") : nullptr;
  if (schema == nullptr) return false;
  const std::string client_id = call->client_id();
  const std::string wrong =
      context_.client.link().contradiction(client_id, *schema, call->call.input);
  if (wrong.empty()) return false;
  call->response = error_text(client_id, kHeaderMismatch, wrong);
  context_.client.send(call->response);
  return true;
}

std::string GovernedCalls::response_to(const HeldCall& call, const Result<Answer>& answer) {
  const std::string id = response_id(call);
  if (!answer) return unrecorded_to(call, answer.error());
  const std::optional<GivenAnswer>& given = call.upstream->answer();
  if (given)
    context_.door.note_trimmed(Side::Server, given->message(), call.upstream->request().method);
  const Envelope& released = answer->released;
  // The server's own error is returned as an error.
  const bool shown = released.kind == Envelope::Kind::Value || released.code.has_value();
  if (shown && given) return given->showing(released, id);
  // The server's answer to an identical call.
  if (shown && answer->outcome.kind == Outcome::Kind::Cached) {
    const bool is_error = released.kind == Envelope::Kind::Error;
    const std::string text = json::serialize(is_error ? error_of(released) : released.value);
    if (!is_error) return result_text(id, text);
    return R"({"jsonrpc":"2.0","id":)" + id + ",\"error\":" + text + '}';
  }
  return notice_to(call, *answer);
}

// The answer to the client if there is no record. Only the log gets the whole error.
std::string GovernedCalls::unrecorded_to(const HeldCall& call, const Error& error) const {
  const std::string id = response_id(call);
  const bool ran = error.where == core::kOutcome;
  if (error.code == ErrorCode::InvalidInput && !ran) {
    return error_text(id, kInvalidParams, error.message);
  }
  context_.settings.log(fmt::format("a call of `{:.80}` {}: {}", call.call.tool,
                                    ran ? "ran and could not be recorded" : "was not run",
                                    error.message));
  return call.upstream->request().method == "tools/call"
             ? result_text(id, unrecorded_result(error))
             : error_text(id, kNotRecorded, unrecorded_sentence(error));
}

// The answer to the client if the server's own answer may not be shown, or there is none.
std::string GovernedCalls::notice_to(const HeldCall& call, const Answer& answer) const {
  const Message& request = call.upstream->request();
  const std::string id = response_id(call);
  if (request.method != "tools/call") {
    const bool foreign =
        request.method.starts_with("tasks/") && context_.owners.is_foreign(task_named_by(request));
    const std::string error =
        foreign ? unknown_error("there is no such task", answer) : notice_error(answer);
    return R"({"jsonrpc":"2.0","id":)" + id + ",\"error\":" + error + '}';
  }
  const ToolDefinition* const tool = context_.server.tool(call.call.tool);
  const bool structured = tool == nullptr || !tool->has_output_schema;
  return result_text(id, notice_result(answer, structured));
}

void GovernedCalls::forward_progress(HeldCall& call, const json::value& released) {
  const std::optional<Message>& message = call.upstream->interim();
  if (!message || call.client_id().empty() || call.client_token.empty()) return;
  if (!released.is_object()) return;  // too large, and no progress any more
  // We have sent some of our own while a person was asked.
  if (!call.progress.rises(*message)) return;
  const json::object* const params = message->params();
  const bool same = params != nullptr && json::value(*params) == released;
  if (!same) context_.door.note(MessageLog::Action::Redacted, Side::Server, message->method);
  context_.door.note_trimmed(Side::Server, *message, message->method);
  std::string changed = same ? std::string(message->params_text()) : json::serialize(released);
  // A request that continues a parked call may have another token.
  changed = with_member(changed, "progressToken", call.client_token);
  context_.client.send(with_member(message->text, "params", changed), call.client_id());
}

bool GovernedCalls::on_progress(Message& notification) {
  const CallDesk::Held call = context_.desk.of_token(progress_token(notification));
  if (!call) return false;
  call->upstream->inbox().put(std::move(notification));
  return true;
}

Task<void> GovernedCalls::run_answered(std::stop_token cancel) {
  const auto waiting = context_.parts.recorder.facts(core::kProposedCall);
  if (!context_.server.opening().ready() || !waiting || waiting->empty()) {
    co_return Result<void>{};
  }
  if (!context_.server.tools().known()) co_await context_.server.tools().refresh({});
  SALLYPORT_CO_TRY([[maybe_unused]] const auto ran,
                   co_await context_.parts.governor.run_answered(
                       [this](const Call& call) { return proposed(call); }, cancel));
  co_return Result<void>{};
}

// Null: the call belongs to another gateway.
std::shared_ptr<ForwardedCall> GovernedCalls::proposed(const Call& call) {
  const GatewaySettings& settings = context_.settings;
  if (call.server != settings.name || call.agent_id != settings.agent_id) return nullptr;
  const std::string params =
      fmt::format(R"({{"name":{},"arguments":{}}})", json::serialize(json::string(call.tool)),
                  call.raw_input.value_or(json::serialize(call.input)));
  Result<Message> request = Message::make_request("tools/call", params, settings.limits.json());
  Result<CallParams> call_params =
      request ? read_call_params(*request) : Result<CallParams>(std::unexpected(request.error()));
  if (!call_params) return nullptr;
  // No client is asked, because the agent takes no part in a proposal.
  return context_.server.upstream({.server = context_.server,
                                   .words = Words::Own,
                                   .clock = &context_.parts.clock,
                                   .keep = context_.self.lock()},
                                  std::move(*request), std::move(*call_params));
}

}  // namespace sallyport::mcp
