#include "mcp/call/approval_wait.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/uuid.h"
#include "core/approval/approval_request.h"
#include "core/approval/doors.h"
#include "mcp/call/approval_form.h"
#include "mcp/message/json_text.h"
#include "mcp/message/notices.h"

namespace sallyport::mcp {

namespace {

using State = HeldCall::State;

std::string waited_key(const std::string& approval_id) {
  return "waits " + approval_id;
}

}  // namespace

void ApprovalWait::end(HeldCall& call) {
  if (!call.waits) return;
  context_.bell.ring(waited_key(call.waits->approval_id));
  call.waits.reset();
  context_.desk.take_place(call);
  take_form_back(call);
  if (!call.cancelled) tasks_.notify(call);
}

// Chooses how this client waits: with a form, with a task, or held open.
Async<void> ApprovalWait::attend(CallDesk::Held call) {
  if (!call->waits || call->client_id().empty()) co_return;
  const bool stateless = context_.client.era() == Era::Modern;
  if (const std::optional<Form> form = form_for(*call)) {
    if (stateless) co_return ask_stateless(call, *form);
    if (call->form.empty()) context_.tasks.start(ask_in_session(call, *form));
  }
  const bool tasks = stateless && declares_tasks(call->capabilities) &&
                     call->upstream->request().method == "tools/call";
  if (tasks && co_await tasks_.give(call)) co_return;
  if (call->waits) co_await hold(call);
}

std::string ApprovalWait::reviewer_here() const {
  const std::shared_ptr<const core::Plan> plan = context_.parts.plans.current();
  const auto& people = plan->approvals().people;
  return people ? people->of_client(context_.settings.agent_id) : std::string();
}

// A form is shown only if the user of this client is a registered reviewer and the call needs no
// other person (AP-13, AP-17, AP-31).
std::optional<ApprovalWait::Form> ApprovalWait::form_for(const HeldCall& call) const {
  const std::string reviewer = reviewer_here();
  if (reviewer.empty() || call.waits->needs_human) return std::nullopt;
  if (!shows_forms(call.capabilities)) return std::nullopt;
  const Result<json::object> entry =
      core::request_entry(context_.parts.recorder, call.waits->approval_id);
  if (!entry) return std::nullopt;
  const json::object request = core::request_of(*entry);
  if (core::kind_of(request) != QuestionKind::Approval) return std::nullopt;
  const json::object* const body = object_in(*entry, "body");
  const auto member = [&](std::string_view name) { return text_or_empty(request, name); };
  return Form{.approval_id = call.waits->approval_id,
              .reviewer = reviewer,
              .binding = member("binding"),
              .deadline = from_rfc3339(member("deadline")).value_or(context_.parts.clock.wall()),
              .params = approval_form(request, body ? *body : json::object())};
}

Async<void> ApprovalWait::hold(CallDesk::Held call) {
  const std::string approval_id = call->waits->approval_id;
  const std::string client_id = call->client_id();
  const auto still = [&] {
    return call->waits && call->waits->approval_id == approval_id && call->client_id() == client_id;
  };
  constexpr auto kSoon = std::chrono::milliseconds(20);
  const auto end = context_.parts.clock.steady() + context_.parts.plans.current()->approvals().hold;
  auto notified_at = context_.parts.clock.steady();
  // A caller whose answer is already available is never rejected.
  const auto taken_by = end + context_.settings.limits.start;
  const auto waits_on = [&] {
    const SteadyTime now = context_.parts.clock.steady();
    return now < end || (now < taken_by && is_decided(approval_id));
  };
  while (still() && waits_on()) {
    const auto next = std::min(end, notified_at + context_.settings.limits.waiting_notice);
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(next - context_.parts.clock.steady());
    co_await context_.bell.wait(waited_key(approval_id), std::max(left, kSoon),
                                call->stop.get_token());
    if (call->stop.stop_requested()) co_return;
    if (!still() ||
        context_.parts.clock.steady() < notified_at + context_.settings.limits.waiting_notice)
      continue;
    notified_at = context_.parts.clock.steady();
    notify_waiting(*call);
  }
  if (!still()) co_return;
  const ToolDefinition* const tool = context_.server.tool(call->call.tool);
  const bool structured = tool == nullptr || !tool->has_output_schema;
  detach(call, pending_result(call->call.tool, *call->waits, structured));
}

bool ApprovalWait::is_decided(const std::string& approval_id) const {
  const auto state = context_.parts.governor.approvals().state(approval_id);
  return state && *state && !(*state)->open();
}

// Counts in tiny steps, because the progress of the server must rise from here.
void ApprovalWait::notify_waiting(HeldCall& call) {
  if (call.client_token.empty()) return;
  call.progress.last = call.progress.last.value_or(0) + 0.001;
  const std::string message = fmt::format("waiting for a person to approve `{}` ({})",
                                          call.call.tool, call.waits->approval_id);
  context_.client.send(
      notification_text(
          "notifications/progress",
          fmt::format(R"({{"progressToken":{},"progress":{:.3f},"message":{}}})", call.client_token,
                      *call.progress.last, json::serialize(json::string(message)))),
      call.client_id());
}

// Answers the client; the call keeps waiting, and an identical call uses the approval.
void ApprovalWait::detach(const CallDesk::Held& call, const std::string& result) {
  context_.desk.forget_old(State::Away, context_.parts.clock.steady());
  const std::string id = call->client_id();
  const bool full =
      context_.desk.count(State::Away, State::Away) >= context_.settings.limits.waiting_calls;
  if (full || !context_.desk.move(call, State::Away, call->identity())) {
    call->stop.request_stop();
    return;
  }
  context_.client.send(
      bridge_.translated(call->upstream->request().method, result_text(id, result)));
}

void ApprovalWait::reattach(const CallDesk::Held& call, const Message& request) {
  if (!call->response.empty()) {
    context_.desk.move(call, State::Left);
    return context_.client.send(with_member(call->response, "id", request.id));
  }
  if (!context_.desk.move(call, State::Running, request.id)) return;
  call->capabilities = context_.client.profile().capabilities;
  call->client_token =
      std::string(find(request.params_text(), {"_meta", "progressToken"}).value_or(""));
  if (call->waits) context_.parts.governor.approvals().ring(call->waits->approval_id);
}

CallDesk::Held ApprovalWait::awaited(const Message& request, const Grants& grants) const {
  const json::object* const params = request.params();
  if (params != nullptr && params->contains("requestState")) return nullptr;
  // The identity of a call is expensive, and usually no client is away.
  context_.desk.forget_old(State::Away, context_.parts.clock.steady());
  if (context_.desk.count(State::Away, State::Away) == 0) return nullptr;
  const Result<CallParams> call_params = read_call_params(request);
  if (!call_params) return nullptr;
  return context_.desk.find(State::Away, identity_of(request, *call_params, grants));
}

void ApprovalWait::on_retry(const CallDesk::Held& call, const Message& request) {
  reattach(call, request);
  if (!call->client_id().empty()) context_.tasks.start(attend(call));
}

void ApprovalWait::end_away(const CallDesk::Held& call, bool refused) {
  call->ended_at = context_.parts.clock.steady();
  if (!refused) context_.desk.move(call, State::Left);
}

Async<void> ApprovalWait::answer_for_user(Form form, Reply reply) {
  reply.by = form.reviewer;
  reply.door = std::string(core::kClientDoor);
  reply.binding = form.binding;
  const Result<void> answered =
      co_await context_.parts.governor.approvals().answer(form.approval_id, std::move(reply));
  // If another person answered first, that answer counts.
  if (!answered) {
    context_.settings.log(
        fmt::format("the answer of the client does not count: {}", answered.error().message));
  }
}

// A client with a session is asked while its call stays open.
Async<void> ApprovalWait::ask_in_session(CallDesk::Held call, Form form) {
  if (!context_.client.has_room_for_question()) co_return;
  const auto [id, awaited] = context_.client.open_question();
  call->form = id;
  context_.client.send(request_text(id, "elicitation/create", json::serialize(form.params)),
                       call->client_id());
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(form.deadline - context_.parts.clock.wall());
  const std::optional<Message> answer = co_await awaited->wait(left);
  if (call->form == id) call->form.clear();
  (void)context_.client.close_question(id);
  const json::value* const result = answer ? answer->object().if_contains("result") : nullptr;
  const auto reply = result ? reply_in_form(*result) : std::nullopt;
  if (reply) co_await answer_for_user(std::move(form), *reply);
}

// The question is decided, so the form is withdrawn (AP-27).
void ApprovalWait::take_form_back(HeldCall& call) {
  const std::string id = std::exchange(call.form, {});
  const auto awaited = context_.client.close_question(id);
  if (!awaited) return;
  context_.client.send(
      notification_text("notifications/cancelled",
                        fmt::format(R"({{"requestId":{},"reason":"it is decided"}})", id)),
      call.client_id());
  awaited->stop();
}

// A stateless client gets the form as its result and repeats the request with the answer.
void ApprovalWait::ask_stateless(const CallDesk::Held& call, const Form& form) {
  json::object params = form.params;
  params["mode"] = "form";
  const std::string state =
      seal(context_.parts.recorder, {.id = uuid7_text(context_.parts.clock, context_.parts.entropy),
                                     .principal = context_.settings.agent_id,
                                     .session = context_.settings.session_id,
                                     .approval_id = form.approval_id,
                                     .binding = form.binding,
                                     .request = call->identity(),
                                     .expires = rfc3339(form.deadline)});
  const json::object wanted{{"method", "elicitation/create"}, {"params", std::move(params)}};
  detach(call, json::serialize(json::object{{"resultType", "input_required"},
                                            {"inputRequests", json::object{{kApprovalKey, wanted}}},
                                            {"requestState", state}}));
}

Async<void> ApprovalWait::take_answer(Message request, SealedState state) {
  const Result<void> used = co_await use_once(context_.parts.recorder, state);
  const auto waiting = [&] { return context_.desk.find_away(state.request, state.approval_id); };
  const auto refuse = [&](std::string_view why) {
    if (context_.client.end(request.id)) context_.client.refuse(request, kInvalidParams, why);
  };
  if (!used) co_return refuse(used.error().message);
  if (!waiting()) {
    co_return refuse("`requestState` names no call that waits; call again without it");
  }
  const json::object* const answers = object_in(*request.params(), "inputResponses");
  const json::value* const answer = answers ? answers->if_contains(kApprovalKey) : nullptr;
  std::string reviewer = reviewer_here();
  const auto reply = answer ? reply_in_form(*answer) : std::nullopt;
  if (reply && !reviewer.empty()) {
    Form form{.approval_id = state.approval_id,
              .reviewer = std::move(reviewer),
              .binding = state.binding};
    co_await answer_for_user(std::move(form), *reply);
  }
  const CallDesk::Held call = waiting();
  if (!call) {
    co_return refuse("the call has ended meanwhile; call again without `requestState`");
  }
  // The request was cancelled meanwhile, so the client stays away.
  if (!context_.client.end(request.id)) co_return;
  context_.client.note_profile(request);  // other requests came meanwhile
  reattach(call, request);
  if (call->client_id().empty() || !call->waits) co_return;
  // A form without an answer is shown again. A client that closed it waits for another person.
  if (answer == nullptr) co_return co_await attend(call);
  co_await hold(call);
}

}  // namespace sallyport::mcp
