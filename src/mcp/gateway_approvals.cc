// Calls that wait for a person. The client is kept waiting for a while, is asked itself where its
// user is a registered reviewer, and is told to come back where that takes too long
// (AP-31, AP-34..AP-37).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/approval/approval_request.h"
#include "mcp/answers.h"
#include "mcp/approval_form.h"
#include "mcp/attendant.h"
#include "mcp/gateway.h"
#include "mcp/json_text.h"
#include "mcp/sealed_state.h"
#include "mcp/told.h"

namespace sallyport::mcp {

namespace {

std::string waited_key(const std::string& approval_id) {
  return "waits " + approval_id;
}

}  // namespace

std::string identity_of(const Message& request, const Asked& asked,
                        const std::vector<std::string>& grants) {
  const std::string input = asked.raw_input.value_or(canonical_json(asked.input));
  return hex(sha256(canonical_json(
      json::array{request.method, asked.tool, input, json::array(grants.begin(), grants.end())})));
}

void Gateway::Attendant::asked(const core::WaitingCall& call) {
  governed_->waits = call;
  governed_->approval_id = call.approval_id;
  // A call that waits for a person takes no place from running calls, as long as not too many wait.
  const std::size_t waiting = gateway_.calls_.size() + gateway_.away_.size();
  if (waiting < gateway_.settings_.limits.waiting_calls) gateway_.leave_place(*governed_);
  if (gateway_.parts_.waiting) gateway_.parts_.waiting(call);
  gateway_.tasks_.start(gateway_.attend(governed_));
}

void Gateway::Attendant::answered() {
  if (!governed_->waits) return;
  gateway_.bell_.ring(waited_key(governed_->waits->approval_id));
  governed_->waits.reset();
  if (!std::exchange(governed_->placed, true)) ++gateway_.running_;
  gateway_.take_form_back(*governed_);
  if (!governed_->cancelled) gateway_.tell_task(*governed_);
}

bool Gateway::Attendant::away() const {
  return governed_->away;
}

// Which ways there are for this client.
Async<void> Gateway::attend(std::shared_ptr<Governed> governed) {
  if (!governed->waits || governed->client_id.empty()) co_return;
  if (const std::optional<Form> form = form_for(*governed)) {
    if (client_era_ == Era::Modern) {
      ask_stateless(governed, *form);
      co_return;
    }
    if (governed->form.empty()) tasks_.start(ask_in_session(governed, *form));
  }
  const bool tasks = client_era_ == Era::Modern && declares_tasks(governed->capabilities) &&
                     governed->upstream->request().method == "tools/call";
  if (tasks && co_await give_task(governed)) co_return;
  if (governed->waits) co_await hold(governed);
}

// Only where the user of this client is a registered reviewer, who is asked about one call that
// needs no second person (AP-13, AP-17, AP-31).
std::optional<Gateway::Form> Gateway::form_for(const Governed& governed) {
  const std::shared_ptr<const core::Plan> plan = parts_.plans.current();
  const auto& people = plan->approvals().people;
  const std::string reviewer = people ? people->of_client(settings_.agent_id) : std::string();
  if (reviewer.empty() || governed.waits->needs_human) return std::nullopt;
  if (!shows_forms(governed.capabilities)) return std::nullopt;
  const Result<json::object> entry =
      core::request_entry(parts_.recorder, governed.waits->approval_id);
  if (!entry) return std::nullopt;
  const json::object request = core::request_of(*entry);
  if (text_in(request, "kind") != "approval") return std::nullopt;
  const json::object* const body = object_in(*entry, "body");
  const auto member = [&](std::string_view name) { return text_or_empty(request, name); };
  return Form{.approval_id = governed.waits->approval_id,
              .reviewer = reviewer,
              .binding = member("binding"),
              .deadline = from_rfc3339(member("deadline")).value_or(parts_.clock.wall()),
              .params = approval_form(request, body ? *body : json::object())};
}

Async<void> Gateway::hold(std::shared_ptr<Governed> governed) {
  const std::string approval_id = governed->waits->approval_id;
  const std::string client_id = governed->client_id;
  const auto still = [&] {
    return governed->waits && governed->waits->approval_id == approval_id &&
           governed->client_id == client_id;
  };
  constexpr auto kSoon = std::chrono::milliseconds(20);
  const auto end = parts_.clock.steady() + parts_.plans.current()->approvals().hold;
  auto told = parts_.clock.steady();
  // A caller whose answer is already available is never rejected.
  const auto taken_by = end + settings_.limits.start;
  const auto waits_on = [&] {
    const SteadyTime now = parts_.clock.steady();
    return now < end || (now < taken_by && is_decided(approval_id));
  };
  while (still() && waits_on()) {
    const auto next = std::min(end, told + settings_.limits.waiting_told);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - parts_.clock.steady());
    co_await bell_.wait(waited_key(approval_id), std::max(left, kSoon), governed->stop.get_token());
    if (governed->stop.stop_requested()) co_return;
    if (!still() || parts_.clock.steady() < told + settings_.limits.waiting_told) continue;
    told = parts_.clock.steady();
    tell_waiting(*governed);
  }
  if (!still()) co_return;
  const auto tool = tools_.find(governed->call.tool);
  const bool structured = tool == tools_.end() || !tool->second.has_output_schema;
  send_away(governed, pending_result(governed->call.tool, *governed->waits, structured));
}

bool Gateway::is_decided(const std::string& approval_id) {
  const auto state = parts_.governor.approvals().state(approval_id);
  return state && *state && !(*state)->open();
}

// Far below whatever the server will say of its own progress, which has to rise from here.
void Gateway::tell_waiting(Governed& governed) {
  if (governed.client_token.empty()) return;
  governed.progress += 0.001;
  const std::string message = fmt::format("waiting for a person to approve `{}` ({})",
                                          governed.call.tool, governed.waits->approval_id);
  to_client(
      notification_text("notifications/progress",
                        fmt::format(R"({{"progressToken":{},"progress":{:.3f},"message":{}}})",
                                    governed.client_token, governed.progress,
                                    json::serialize(json::string(message)))),
      governed.client_id);
}

// The client gets an answer, and the call waits on: a yes is used when an identical call comes.
void Gateway::send_away(const std::shared_ptr<Governed>& governed, const std::string& result) {
  forget_refusals();
  if (away_.size() >= settings_.limits.waiting_calls) {
    governed->stop.request_stop();
    return;
  }
  const std::string id = std::exchange(governed->client_id, {});
  calls_.erase(id);
  governed->away = true;
  away_.emplace(governed->identity, governed);
  to_client(answer_for_client(governed->upstream->request().method, result_text(id, result)));
}

void Gateway::leave_place(Governed& governed) {
  if (!std::exchange(governed.placed, false)) return;
  --running_;
  bell_.ring("ended");
  start_waiting_calls();
}

void Gateway::welcome(const std::shared_ptr<Governed>& governed, const Message& request) {
  std::erase_if(away_, [&](const auto& one) { return one.second == governed; });
  governed->away = false;
  if (!governed->response.empty()) {
    return to_client(with_member(governed->response, "id", request.id));
  }
  governed->client_id = request.id;
  governed->capabilities = client_capabilities_;
  governed->client_token =
      std::string(find(request.params_text(), {"_meta", "progressToken"}).value_or(""));
  calls_[request.id] = governed;
  if (governed->waits) parts_.governor.approvals().ring(governed->waits->approval_id);
}

// True: it is a call that the client was told to make again.
bool Gateway::come_back(const Message& request, const Grants& grants) {
  const Result<Asked> asked = read_asked(request);
  const json::object* const params = request.params();
  if (!asked || (params != nullptr && params->contains("requestState"))) return false;
  forget_refusals();
  const auto found = away_.find(identity_of(request, *asked, grants));
  if (found == away_.end()) return false;
  const std::shared_ptr<Governed> governed = found->second;
  welcome(governed, request);
  if (!governed->client_id.empty()) tasks_.start(attend(governed));
  return true;
}

// A call ended while its client was away. That it was refused is kept for when it comes back; what
// an identical call got is that one's.
void Gateway::end_away(const std::shared_ptr<Governed>& governed, bool refused) {
  governed->ended_at = parts_.clock.steady();
  if (refused) return;
  std::erase_if(away_, [&](const auto& one) { return one.second == governed; });
}

// A client that comes back much later is asked again.
void Gateway::forget_refusals() {
  std::erase_if(away_, [&](const auto& one) {
    const auto& ended = one.second->ended_at;
    return ended && parts_.clock.steady() - *ended > settings_.limits.parked;
  });
}

Async<void> Gateway::answer_for_user(Form form, sallyport::Reply reply) {
  reply.by = form.reviewer;
  reply.door = std::string(core::kClientDoor);
  reply.binding = form.binding;
  const Result<void> said =
      co_await parts_.governor.approvals().answer(form.approval_id, std::move(reply));
  // If another person was first, that answer counts.
  if (!said) settings_.log(fmt::format("an answer of the client: {}", said.error().message));
}

// A client of sessions is asked beside its call.
Async<void> Gateway::ask_in_session(std::shared_ptr<Governed> governed, Form form) {
  if (questions_.size() >= settings_.limits.requests) co_return;
  const std::string id = std::to_string(++last_question_);
  const auto told = std::make_shared<Told>(executor_);
  questions_[id] = told;
  governed->form = id;
  to_client(request_text(id, "elicitation/create", json::serialize(form.params)),
            governed->client_id);
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(form.deadline - parts_.clock.wall());
  const std::optional<Message> answer = co_await told->wait(left);
  if (governed->form == id) governed->form.clear();
  questions_.erase(id);
  const json::value* const result = answer ? answer->object().if_contains("result") : nullptr;
  const auto reply = result ? reply_in_form(*result) : std::nullopt;
  if (reply) co_await answer_for_user(std::move(form), *reply);
}

// The question is decided, so the form is withdrawn (AP-27).
void Gateway::take_form_back(Governed& governed) {
  const auto found = questions_.find(std::exchange(governed.form, {}));
  if (found == questions_.end()) return;
  const std::string id = found->first;
  const std::shared_ptr<Told> told = found->second;
  questions_.erase(found);
  to_client(notification_text("notifications/cancelled",
                              fmt::format(R"({{"requestId":{},"reason":"it is decided"}})", id)),
            governed.client_id);
  if (told) told->stop();
}

// A stateless client is told what is wanted, and brings the answer with the same request.
void Gateway::ask_stateless(const std::shared_ptr<Governed>& governed, const Form& form) {
  json::object params = form.params;
  params["mode"] = "form";
  const std::string state = seal(parts_.recorder, {.id = uuid7_text(parts_.clock, parts_.entropy),
                                                   .principal = settings_.agent_id,
                                                   .session = settings_.session_id,
                                                   .approval_id = form.approval_id,
                                                   .binding = form.binding,
                                                   .request = governed->identity,
                                                   .expires = rfc3339(form.deadline)});
  const json::object wanted{{"method", "elicitation/create"}, {"params", std::move(params)}};
  send_away(governed,
            json::serialize(json::object{{"resultType", "input_required"},
                                         {"inputRequests", json::object{{kApprovalKey, wanted}}},
                                         {"requestState", state}}));
}

// True: the request brings the answer to such a question, or pretends to.
bool Gateway::brings_answer(const Message& request, const Grants& grants) {
  const json::object* const params = request.params();
  const auto text = params ? text_in(*params, "requestState") : std::nullopt;
  if (!text || !is_sealed(*text)) return false;
  const Result<SealedState> state = unseal(parts_.recorder, *text, parts_.clock.wall());
  const Result<Asked> asked = read_asked(request);
  // A stateless server is as old as its requests: what it gave is good in every session.
  const bool here = state && (!state->carried.empty() || state->session == settings_.session_id);
  const bool fits = here && asked && state->principal == settings_.agent_id &&
                    state->request == identity_of(request, *asked, grants);
  if (!fits) {
    to_client(error_text(request.id, kInvalidParams,
                         state ? "`requestState` belongs to another request; call again without it"
                               : state.error().message));
    return true;
  }
  relayed_[request.id] = 0;
  tasks_.start(state->carried.empty() ? take_answer(request, *state)
                                      : go_on_with(request, grants, *state));
  return true;
}

Async<void> Gateway::take_answer(Message request, SealedState state) {
  const Result<void> used = co_await use_once(parts_.recorder, state);
  const auto waiting = [&]() -> std::shared_ptr<Governed> {
    const auto [first, last] = away_.equal_range(state.request);
    for (auto one = first; one != last; ++one) {
      if (one->second->approval_id == state.approval_id) return one->second;
    }
    return nullptr;
  };
  const auto refuse = [&](std::string_view why) {
    if (relayed_.erase(request.id) > 0) to_client(error_text(request.id, kInvalidParams, why));
  };
  if (!used) co_return refuse(used.error().message);
  if (!waiting())
    co_return refuse("`requestState` names no call that waits; call again without it");
  const json::object* const answers = object_in(*request.params(), "inputResponses");
  const json::value* const answer = answers ? answers->if_contains(kApprovalKey) : nullptr;
  const auto& clients = parts_.plans.current()->approvals().clients;
  const auto reviewer = clients.find(settings_.agent_id);
  const auto reply = answer ? reply_in_form(*answer) : std::nullopt;
  if (reply && reviewer != clients.end()) {
    Form form{
        .approval_id = state.approval_id, .reviewer = reviewer->second, .binding = state.binding};
    co_await answer_for_user(std::move(form), *reply);
  }
  const std::shared_ptr<Governed> governed = waiting();
  if (!governed)
    co_return refuse("the call has ended meanwhile; call again without `requestState`");
  // Cancelled meanwhile: it stays away.
  if (relayed_.erase(request.id) == 0) co_return;
  welcome(governed, request);
  if (governed->client_id.empty() || !governed->waits) co_return;
  // A form without an answer is shown again. A client that closed it waits for another person.
  if (answer == nullptr) co_return co_await attend(governed);
  co_await hold(governed);
}

}  // namespace sallyport::mcp
