#include "hook/front.h"

#include <fmt/format.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <sstream>

#include "base/exact_numbers.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/doors.h"
#include "core/call/call_check.h"
#include "core/plan/rule_text.h"
#include "hook/members.h"
#include "hook/observed.h"

namespace sallyport::hook {

namespace {

// Ends the text with a full stop, so that another sentence can follow.
std::string sentence(std::string text) {
  if (!text.empty() && !std::string_view(".!?").contains(text.back())) text += '.';
  return text;
}

constexpr std::string_view kAskedSpace = "hook_asked";
constexpr std::string_view kRepeatedSpace = "hook_repeated";
constexpr std::string_view kAnsweredSpace = "answered";        // as `HandOffs` keeps it
constexpr std::string_view kCommandFolder = "command_folder";  // in the state of a hand-off
constexpr std::string_view kLocally = "approved locally, observed";
constexpr std::size_t kDeepestOutput = 100;
constexpr unsigned kDraws = 32;  // of an id, while other hooks draw at the same time

// Decides what the model sees in the place of the result.
Decision decision_of(const Event& event, const Answer& answer) {
  const Envelope& released = answer.released;
  if (same(released, envelope_of(event))) return Decision::allow();
  if (released.kind == Envelope::Kind::Value) {
    return {.kind = Decision::Kind::Replace, .value = released.value};
  }
  if (event.failed)
    return {.kind = Decision::Kind::Replace, .value = json::value(released.message)};
  return Decision::withhold(released.message);
}

// The lines of rules about the call, for the user of the host (RU-73).
std::string shown_rules(core::RecordReader& records, const std::string& approval_id) {
  const Result<json::object> entry = core::request_entry(records, approval_id);
  std::string text;
  if (!entry) return text;
  for (const core::RuleLine& line : core::rule_lines(core::rules_in(object_in(*entry, "body")))) {
    // The question already begins with the message.
    if (line.name != "message") text += fmt::format("\n{}: {}", line.name, line.text);
  }
  return text;
}

// True for a call that was neither handed out and answered nor first seen by a hook afterwards.
bool ran_at_gateway(core::RecordReader& records, const core::Idempotency::Row& row) {
  const auto answered = records.fact(kAnsweredSpace, row.call_id);
  const Result<json::object> entry = records.entry(row.sequence);
  const json::object* const body = entry ? object_in(*entry, "body") : nullptr;
  return answered && !*answered && body != nullptr && text_in(*body, "front") != "hook";
}

// Another hook that drew the same id needs this time to record it. More hooks need more time.
Async<void> pause_between_draws(unsigned draws) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor,
                                  std::chrono::milliseconds(3) * draws);
  boost::system::error_code ignored;
  co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
}

}  // namespace

std::string Front::server_of(const Event& event) const {
  if (!event.server.empty()) return event.server;
  return settings_.host.empty() ? settings_.agent : settings_.host;
}

Call Front::call_of(const Event& event) const {
  Call call{
      .tool_call_id = event.call_id,
      .agent_id = settings_.agent,
      .session_id = event.session_id,
      .server = server_of(event),
      .tool = event.tool,
      .input = event.input,
      .agent_name = event.sub_agent,
      .setting = {.front = "hook",
                  .folder = event.folder,
                  .user = settings_.person,
                  .workspace = settings_.workspace.empty() ? event.workspace : settings_.workspace,
                  .interactive = settings_.host_prompts}};
  if (!event.model.empty()) call.provenance.model = event.model;
  return call;
}

Result<Call> Front::named_call(const Event& event) {
  Call call = call_of(event);
  if (call.tool_call_id.empty()) {
    SALLYPORT_TRY(call.tool_call_id, ids_.fresh(event));
  }
  return call;
}

Result<void> Front::check(const Event& event) const {
  SALLYPORT_CHECK_OK(core::check_call(call_of(event)));
  return check_json(event.output, kDeepestOutput);
}

Task<Decision> Front::before(Event event) {
  SALLYPORT_CO_CHECK_OK(check(event));
  if (event.repeats) {
    SALLYPORT_CO_TRY(const bool known, co_await repeats_open_call(event));
    if (known) co_return Decision::allow();
  }
  // The call was decided when the model proposed it, and already has its intent.
  SALLYPORT_CO_TRY(const std::optional<PendingCall> proposed,
                   parts_.hand_offs.proposed_call(call_of(event)));
  if (proposed && proposed->effective_input == event.input) co_return Decision::allow();
  if (proposed) {
    co_return Decision{.kind = Decision::Kind::Rewrite, .value = proposed->effective_input};
  }
  SALLYPORT_CO_TRY(const core::HandOffs::HandedOut given, co_await hand_out(event));
  if (!given.hand_off.tool_calls.empty()) {
    const PendingCall& handed_out = given.hand_off.tool_calls.front();
    if (event.repeats) {
      // The host sent only the specific event, so no other event comes before the result.
      SALLYPORT_CO_CHECK_OK(co_await note("said_alone", event, {{"tool_call_id", handed_out.id}},
                                          {repeat_fact(event, handed_out.id)}));
    }
    if (handed_out.effective_input == handed_out.input) co_return Decision::allow();
    co_return Decision{.kind = Decision::Kind::Rewrite, .value = handed_out.effective_input};
  }
  const Answer& answer = given.answered.front();
  if (answer.outcome.kind == Outcome::Kind::RequiresConfirmation) {
    co_return co_await wait_for_person(event, answer);
  }
  // The same event came twice, for example from a hook that is configured in two places. The call
  // is already handed out.
  const auto clash = given.clashes.find(event.call_id);
  if (clash != given.clashes.end() && clash->second == core::HandOffs::HandedOut::Clash::Out) {
    co_return Decision::allow();
  }
  if (answer.outcome.kind != Outcome::Kind::Blocked) {
    co_return Decision::deny(fmt::format("call `{}` has been made before", event.call_id));
  }
  co_return Decision::deny(answer.result.output);
}

core::Fact Front::repeat_fact(const Event& event, const std::string& id) const {
  return {std::string(kRepeatedSpace),
          parts_.digest(canonical_json(json::array{event.session_id, id})), "1"};
}

// The second event may name another folder than the first one. Then the policy looks at it too. A
// person who approved a command without a known folder is not asked again.
Task<bool> Front::runs_where_it_is(const Event& event, const Continuation& handed_out) {
  const json::object* const state = handed_out.payload.state.if_object();
  const std::string first = state ? text_or_empty(*state, kCommandFolder) : std::string();
  if (event.command_folder.empty() || event.command_folder == first) co_return true;
  SALLYPORT_CO_TRY(const core::Rehearsal seen,
                   co_await parts_.governor.rehearse(
                       call_of(event), std::make_shared<Observed>(event, plain_assertion())));
  co_return !seen.refusal && (first.empty() || !seen.question);
}

// A host may report an open call a second time. A third report counts as a new call.
Task<bool> Front::repeats_open_call(const Event& event) {
  SALLYPORT_CO_TRY(const std::vector<std::string> open, ids_.open(event));
  for (const std::string& id : open) {
    SALLYPORT_CO_TRY(const std::optional<Continuation> handed_out,
                     parts_.hand_offs.hand_off_of(event.session_id, id));
    if (!handed_out) continue;
    SALLYPORT_CO_TRY(const bool runs, co_await runs_where_it_is(event, *handed_out));
    if (!runs) continue;
    core::Fact never = repeat_fact(event, id);
    never.value.reset();
    const Result<void> noted = co_await note("said_again", event, {{"tool_call_id", id}},
                                             {repeat_fact(event, id)}, {never});
    if (noted) co_return true;
    if (noted.error().code != ErrorCode::Conflict) co_return std::unexpected(noted.error());
  }
  co_return false;
}

// An id that we drew does not prove that this is the same call. The hook that drew it first keeps
// it; the other draws again.
Task<core::HandOffs::HandedOut> Front::hand_out(const Event& event) {
  for (unsigned draws = 1;; ++draws) {
    SALLYPORT_CO_TRY(Call call, named_call(event));
    const Origins::Added origin = parts_.origins.add(call, settings_.origin);
    std::vector<Call> calls;
    calls.push_back(std::move(call));
    json::object state = holder();
    if (!event.command_folder.empty()) state[kCommandFolder] = event.command_folder;
    SALLYPORT_CO_TRY(core::HandOffs::HandedOut given,
                     co_await parts_.hand_offs.hand_out(
                         {.session_id = event.session_id, .state = std::move(state)},
                         std::move(calls), {.leaves = true}));
    const bool again = event.call_id.empty() && !given.clashes.empty() && draws < kDraws;
    if (!again) co_return given;
    co_await pause_between_draws(draws);
  }
}

bool Front::local_yes_counts(const std::optional<core::ApprovalState>& state,
                             const json::object& request) const {
  // A host does not report the reason of its user (RU-18). A scope or rule may require a human.
  return state && !state->reason_required && !state->needs_human &&
         settings_.local_yes_counts(request);
}

// Uses the host's own dialog if its answer counts. Otherwise a person answers elsewhere, and then
// the same call is allowed (AP-33, AP-36).
Task<Decision> Front::wait_for_person(const Event& event, const Answer& answer) {
  SALLYPORT_CO_TRY(const json::object request,
                   core::stored_request(parts_.records, answer.approval_id));
  const std::string& id = answer.approval_id;
  if (bool_in(request, "proposal").value_or(false)) {
    co_return Decision::deny(
        fmt::format("{} This agent may only propose; a person has to do it (approval {}).",
                    answer.outcome.text, id));
  }
  SALLYPORT_CO_TRY(const auto state, parts_.governor.approvals().state(id));
  const bool needs_reason = state && state->reason_required;
  if (settings_.host_prompts && local_yes_counts(state, request)) {
    core::Fact asked{std::string(kAskedSpace), asked_key(event),
                     fmt::format("{} {} {} {}", id, answer.call_id, act_digest(event),
                                 canonical_json(holder()))};
    SALLYPORT_CO_CHECK_OK(co_await note(
        "asked_locally", event, {{"approval_id", id}, {"call_id", answer.call_id}}, {asked}));
    co_return Decision{.kind = Decision::Kind::Ask,
                       .reason = fmt::format("{} ({}){}", answer.outcome.text, id,
                                             shown_rules(parts_.records, id))};
  }
  co_return Decision{.kind = Decision::Kind::Wait,
                     .reason = fmt::format(
                         "{} A person has to approve this call first: `sallyport approvals "
                         "approve {}{}`. Then make exactly the same call again.",
                         sentence(answer.outcome.text), id, needs_reason ? " --reason TEXT" : "")};
}

Task<Decision> Front::after(Event event) {
  SALLYPORT_CO_CHECK_OK(check(event));
  std::string id = event.call_id;
  if (id.empty()) {
    SALLYPORT_CO_TRY(id, open_call_of(event));
  }
  std::optional<Continuation> handed_out;
  if (!id.empty()) {
    SALLYPORT_CO_TRY(handed_out, parts_.hand_offs.hand_off_of(event.session_id, id));
  }
  if (handed_out) co_return co_await take_back(event, id, std::move(*handed_out));
  SALLYPORT_CO_TRY(std::optional<OpenQuestion> asked, asked_about(event));
  if (asked) co_return co_await observe_approved(event, std::move(*asked));
  SALLYPORT_CO_TRY(const auto known, ids_.row(event, id));
  const bool again = known && known->status == core::Idempotency::Status::Completed;
  // A gateway has run the call of the proxy and checked its result (MP-61).
  if (again && ran_at_gateway(parts_.records, *known)) co_return Decision::allow();
  co_return again ? co_await replay_answer(event, id) : co_await observe(event);
}

// The identity of a call may be a part of its input. Then the general event after the call, which
// has the whole input, finds the call by it: two calls may write different texts to one file.
Result<std::string> Front::open_call_of(const Event& event) {
  SALLYPORT_TRY(const std::vector<std::string> open, ids_.open(event));
  if (open.empty()) return std::string();
  if (event.repeats || event.identity.is_null()) return open.front();
  for (const std::string& id : open) {
    SALLYPORT_TRY(const std::optional<Continuation> handed_out,
                  parts_.hand_offs.hand_off_of(event.session_id, id));
    if (handed_out && has_input_of(*handed_out, event)) return id;
  }
  return std::string();
}

// The result was reported before. The first record counts (AU-59).
Task<Decision> Front::replay_answer(const Event& event, const std::string& id) {
  SALLYPORT_CO_TRY(const std::optional<Answer> replayed,
                   co_await parts_.hand_offs.submit_again(
                       {.tool_call_id = id, .result = result_of(event)}, event.session_id,
                       {!event.replaceable, plain_assertion()}));
  if (!replayed) co_return co_await observe(event);
  co_return decision_of(event, *replayed);
}

json::object Front::holder() const {
  const Reporter& reporter = settings_.reporter;
  return {
      {"process", reporter.process}, {"parent", reporter.parent}, {"program", reporter.program}};
}

// Hosts end and restart between a call and its result, and some start every hook through a helper.
// A successor runs the same program for the same parent, and the process before it is gone. A
// program that a tool of the agent starts does not fit this.
core::Assertion Front::assertion_beside(const json::value& holder) const {
  using Standing = core::Assertion::Standing;
  const Reporter& reporter = settings_.reporter;
  const json::object* const held = holder.if_object();
  const auto member = [&](std::string_view name) {
    return held ? text_or_empty(*held, name) : std::string();
  };
  const std::string process = member("process");
  core::Assertion assertion{.standing = Standing::Other, .by = reporter.facts};
  // A call that no hook handed out names no process. A reporter that cannot be seen is not its
  // holder.
  const bool named = held != nullptr && held->contains("process");
  if (named && process == reporter.process) {
    assertion.standing = Standing::Holder;
  } else if (!process.empty() && !reporter.parent.empty() && settings_.runs &&
             !settings_.runs(process) && member("parent") == reporter.parent &&
             member("program") == reporter.program) {
    assertion.standing = Standing::Successor;
  }
  return assertion;
}

Task<Decision> Front::take_back(const Event& event, std::string id, Continuation handed_out) {
  core::Report report{!event.replaceable, assertion_beside(handed_out.payload.state)};
  // The model proxy handed the call to this agent, so its hook may report the result (MP-61).
  if (handed_out.payload.state == core::HandOffs::proposed_to(settings_.agent)) {
    report.asserted->standing = core::Assertion::Standing::Holder;
  }
  if (!report.asserted->counts()) {
    CallResult result{.tool_call_id = std::move(id), .result = result_of(event)};
    SALLYPORT_CO_TRY(const Answer answer,
                     co_await parts_.hand_offs.note_asserted(std::move(result), event.session_id,
                                                             std::move(report)));
    co_return decision_of(event, answer);
  }
  Submission submission{.continuation = std::move(handed_out)};
  submission.results.push_back({.tool_call_id = std::move(id), .result = result_of(event)});
  SALLYPORT_CO_TRY(
      const std::vector<Answer> answers,
      co_await parts_.hand_offs.submit(std::move(submission), event.session_id, std::move(report)));
  co_return decision_of(event, answers.front());
}

Task<Decision> Front::permission(Event event) {
  SALLYPORT_CO_CHECK_OK(check(event));
  SALLYPORT_CO_TRY(const core::Rehearsal seen,
                   co_await parts_.governor.rehearse(
                       call_of(event), std::make_shared<Observed>(event, plain_assertion())));
  if (!seen.refusal) co_return Decision::allow();
  SALLYPORT_CO_CHECK_OK(co_await note("permission_refused", event, {{"reason", *seen.refusal}}));
  co_return Decision::deny(*seen.refusal);
}

// A withheld result stops the model; a result that should be replaced only adds a notice.
Task<Decision> Front::batch(std::vector<Event> results) {
  Decision gravest = Decision::allow();
  for (const Event& event : results) {
    SALLYPORT_CO_TRY(const auto known, ids_.row(event, event.call_id));
    if (known && known->status == core::Idempotency::Status::Completed) continue;
    SALLYPORT_CO_TRY(Decision decision, co_await after(event));
    const bool graver =
        gravest.kind == Decision::Kind::Allow || decision.kind == Decision::Kind::Withhold;
    if (graver) gravest = std::move(decision);
  }
  co_return gravest;
}

Task<Decision> Front::end_session(Event event) {
  SALLYPORT_CO_CHECK_OK(
      co_await parts_.governor.approvals().cancel_session(event.session_id, "the session ended"));
  SALLYPORT_CO_CHECK_OK(co_await parts_.governor.tidy());
  co_return Decision::allow();
}

// The host asked its user and does not report the choice. If the same call then ran, the user
// approved it.
Task<Decision> Front::observe_approved(const Event& event, OpenQuestion asked) {
  core::Assertion assertion = assertion_beside(asked.holder);
  // A report of another process is no approval either.
  if (asked.act != act_digest(event) || !assertion.counts()) co_return co_await observe(event);
  SALLYPORT_CO_TRY(const auto state, parts_.governor.approvals().state(asked.approval_id));
  if (state && state->open()) {
    SALLYPORT_CO_TRY(const json::object request,
                     core::stored_request(parts_.records, asked.approval_id));
    if (!local_yes_counts(state, request)) co_return co_await observe(event);
    Reply yes = Reply::approve(settings_.person);
    yes.reason = kLocally;
    yes.door = core::kHostDoor;
    const Result<void> approved =
        co_await parts_.governor.approvals().answer(asked.approval_id, std::move(yes));
    // An earlier answer or the expiry counts instead.
    if (!approved && approved.error().code != ErrorCode::Conflict)
      co_return std::unexpected(approved.error());
  }
  SALLYPORT_CO_TRY(Call call, named_call(event));
  call.call_id = asked.call_id;
  const Origins::Added origin = parts_.origins.add(call, settings_.origin);
  core::Governor::Resumption waited{.call = std::move(call), .approval_id = asked.approval_id};
  waited.observed = true;
  waited.closing.push_back({std::string(kAskedSpace), asked_key(event), std::nullopt});
  const Result<Answer> answer = co_await parts_.governor.resume(
      std::move(waited), std::make_shared<Observed>(event, std::move(assertion)), {.leaves = true});
  if (!answer && answer.error().code == ErrorCode::Conflict) co_return co_await observe(event);
  if (!answer) co_return std::unexpected(answer.error());
  if (answer->outcome.kind == Outcome::Kind::Completed) co_return decision_of(event, *answer);
  SALLYPORT_CO_CHECK_OK(co_await refuse_afterwards(event, *answer));
  co_return Decision::withhold(answer->result.output);
}

// The hook was not asked before the call: it was installed in between, or its host continued
// without it. The policy decides now.
Task<Decision> Front::observe(const Event& event) {
  SALLYPORT_CO_TRY(Call call, named_call(event));
  const Origins::Added origin = parts_.origins.add(call, settings_.origin);
  SALLYPORT_CO_TRY(
      const Answer answer,
      co_await parts_.governor.run(
          std::move(call), std::make_shared<Observed>(event, plain_assertion()), {.leaves = true}));
  const bool ran = answer.outcome.kind == Outcome::Kind::Completed ||
                   answer.outcome.kind == Outcome::Kind::Cached;
  SALLYPORT_CO_CHECK_OK(
      co_await note("ran_unasked", event, {{"call_id", answer.call_id}, {"allowed", ran}}));
  if (ran) co_return decision_of(event, answer);
  SALLYPORT_CO_CHECK_OK(co_await refuse_afterwards(event, answer));
  co_return Decision::withhold(answer.result.output);
}

// Cancels the approval request of a call that has already run.
Task<void> Front::refuse_afterwards(const Event& event, const Answer& answer) {
  core::Approvals& approvals = parts_.governor.approvals();
  if (answer.outcome.kind == Outcome::Kind::RequiresConfirmation) {
    SALLYPORT_CO_TRY(const auto state, approvals.state(answer.approval_id));
    if (state && state->open() && state->call_id == answer.call_id) {
      Reply over{.kind = Reply::Kind::Cancelled,
                 .reason = "the tool had run",
                 .door = std::string(core::kHostDoor)};
      const Result<void> closed = co_await approvals.answer(answer.approval_id, std::move(over));
      if (!closed && closed.error().code != ErrorCode::Conflict) {
        co_return std::unexpected(closed.error());
      }
    }
  }
  co_return co_await note("ran_unapproved", event,
                          {{"call_id", answer.call_id}, {"reason", answer.outcome.text}});
}

Task<void> Front::note(std::string_view kind, const Event& event, json::object body,
                       std::vector<core::Fact> facts, std::vector<core::Fact> expected) {
  body["kind"] = kind;
  body["detail"] = event.name;
  core::Draft draft{.kind = core::Kind::Topic,
                    .subject = Subject{.call_id = text_or_empty(body, "call_id"),
                                       .session_id = event.session_id,
                                       .agent_id = settings_.agent,
                                       .server = server_of(event),
                                       .tool_name = event.tool},
                    .topic = "hooks",
                    .body = std::move(body),
                    .facts = std::move(facts)};
  std::vector<core::Draft> drafts;
  drafts.push_back(std::move(draft));
  SALLYPORT_CO_TRY([[maybe_unused]] const auto written,
                   co_await parts_.records.append(std::move(drafts), core::Urgency::Reports,
                                                  std::move(expected)));
  co_return Result<void>{};
}

std::string Front::asked_key(const Event& event) const {
  const std::string id = event.call_id.empty() ? ids_.id(event, 0) : event.call_id;
  return parts_.digest(canonical_json(json::array{event.session_id, id}));
}

std::string Front::act_digest(const Event& event) const {
  const json::value input =
      numbers_are_exact(event.input) ? event.input : json::value(json::serialize(event.input));
  return parts_.digest(canonical_json(json::array{event.server, event.tool, input}));
}

Result<std::optional<Front::OpenQuestion>> Front::asked_about(const Event& event) {
  SALLYPORT_TRY(const auto stored, parts_.records.fact(kAskedSpace, asked_key(event)));
  std::istringstream words(stored.value_or(""));
  OpenQuestion asked;
  if (!(words >> asked.approval_id >> asked.call_id)) return std::nullopt;
  words >> asked.act;
  std::string holder;
  std::getline(words >> std::ws, holder);
  if (const Result<json::value> read = parse_own_json(holder)) asked.holder = *read;
  return asked;
}

}  // namespace sallyport::hook
