// Handles the return of handed-out calls: first results, repeated results, or none in time.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/call/call_record.h"
#include "core/call/closer.h"
#include "core/decision/session_workspace.h"
#include "core/handoff/hand_offs.h"
#include "core/handoff/waiting_facts.h"
#include "core/plan/grant_use.h"

namespace sallyport::core {

namespace {

// Key: call id. Value: the place of the record of a call that came back.
constexpr std::string_view kAnswered = "answered";

event::ToolExecutionFinished finished(const CallRecord& record, const ToolResult& result,
                                      std::string preview) {
  event::ToolExecutionFinished event{.agent_id = record.subject->agent_id,
                                     .tool_name = record.subject->tool_name,
                                     .tool_call_id = record.tool_call_id,
                                     .is_error = !result.success,
                                     .output_preview = std::move(preview)};
  if (!result.success) event.error = event.output_preview;
  return event;
}

// A result that a program built may hold values that no record can hold (EV-110).
Result<void> check_content(const std::vector<CallResult>& results) {
  constexpr std::size_t kDeepestResult = 90;
  for (const CallResult& each : results) {
    const Result<void> sound = check_json(to_json(each.result), kDeepestResult);
    if (sound) continue;
    return fail(ErrorCode::InvalidInput,
                fmt::format("result of `{}`: {}", each.tool_call_id, sound.error().message),
                "results");
  }
  return {};
}

}  // namespace

// A call that came back: its record as far as the intent has it, and its end.
struct HandOffs::Returned {
  CallRecord record;
  Ending ending;
  Answer answer;
  FailOpenLog::Share fail_open;
};

Task<std::vector<Answer>> HandOffs::submit(Submission submission, std::string session_id,
                                           Report report) {
  SALLYPORT_CO_CHECK_OK(stages_.parts.recorder.accept_call());
  SALLYPORT_CO_CHECK_OK(co_await expire());
  SALLYPORT_CO_TRY(Continuations::Found found,
                   continuations_.find(submission.continuation, session_id));
  if (found.state == Continuations::State::Expired) {
    co_return fail(ErrorCode::Conflict, "the hand-off expired before its results came", {},
                   "hand_off_expired");
  }
  const std::vector<std::string> ids = ids_of(found.kept.continuation.payload.pending_tool_calls);
  SALLYPORT_CO_CHECK_OK(check_results(ids, submission));
  SALLYPORT_CO_CHECK_OK(check_content(submission.results));
  const Returning returning{submission.results, report};
  if (found.state == Continuations::State::Open) {
    Result<std::vector<Answer>> first = co_await complete(found, returning);
    if (first || first.error().code != ErrorCode::Conflict) co_return first;
    // Another submission was first.
  }
  co_return co_await answer_again(found.kept, returning);
}

Result<std::optional<std::uint64_t>> HandOffs::record_of(const Call& call) {
  SALLYPORT_TRY(const auto at, stages_.parts.recorder.fact(kAnswered, call.call_id));
  if (const std::optional<Placed> placed = at ? split_place(*at) : std::nullopt) {
    return placed->sequence;
  }
  // A call that its host ran unasked was never handed out.
  Idempotency& rows = stages_.idempotency;
  SALLYPORT_TRY(const std::optional<Idempotency::Row> row, rows.row(rows.key(call)));
  const bool answered = row && row->status == Idempotency::Status::Completed;
  return answered ? std::optional(row->sequence) : std::nullopt;
}

Task<std::optional<Answer>> HandOffs::submit_again(CallResult again, std::string session_id,
                                                   Report report) {
  SALLYPORT_CO_CHECK_OK(stages_.parts.recorder.accept_call());
  const Call named{.tool_call_id = again.tool_call_id, .session_id = std::move(session_id)};
  SALLYPORT_CO_TRY(const std::optional<std::uint64_t> at, record_of(named));
  if (!at) co_return std::nullopt;
  SALLYPORT_CO_TRY(const json::object first, stages_.parts.recorder.entry(*at));
  Call call = call_of(subject_of(first));
  call.tool_call_id = again.tool_call_id;
  const std::vector<CallResult> results{std::move(again)};
  const Kept kept{.calls = {std::move(call)}};
  SALLYPORT_CO_TRY(std::vector<Answer> answers, co_await answer_again(kept, {results, report}));
  co_return std::move(answers.front());
}

std::shared_ptr<const ResultRules> HandOffs::result_rules(const Plan& plan, const Out& out) const {
  if (!plan.rules() || !plan.rules()->judges_results()) return nullptr;
  ResultRules rules;
  // The input of an answered call is gone.
  if (!out.call.input.is_null()) {
    const std::vector<std::string> workspace = session_workspace(out.call, stages_.parts.recorder);
    rules.apply =
        plan.rules()->judge({out.call, {}, workspace, stages_.parts.clock.wall()}).results;
  }
  const json::object* const judged = object_in(out.record, "rules");
  const json::value* const matches = judged ? judged->if_contains("matches") : nullptr;
  if (matches == nullptr || !matches->is_array()) return std::make_shared<ResultRules>(rules);
  for (const json::value& match : matches->get_array()) {
    const json::object* const members = match.if_object();
    const std::string id = members ? text_or_empty(*members, "rule") : "";
    const bool known = std::ranges::find(rules.apply, id, &RuleItem::rule) != rules.apply.end();
    if (!known) rules.apply.push_back({.rule = id});
  }
  return std::make_shared<ResultRules>(std::move(rules));
}

Async<Ending> HandOffs::pass_second_door(Out out, Envelope envelope, FailOpen& fail_open) {
  const Call& call = out.call;
  const auto grant = out.kept.grants.find(call.call_id);
  const bool granted = grant != out.kept.grants.end();
  const std::shared_ptr<const Plan> plan = stages_.parts.plans.current();
  ResultContext context{
      .tool = call.tool,
      .call = std::make_shared<const Call>(call),
      .scope = granted ? grant->second->scope : no_grants(),
      .effect_class = plan->classify(call).effect_class,
      .policy_hash = plan->hash(),
      .matched_grant_index = granted ? std::optional(grant->second->index) : std::nullopt,
      .is_error = envelope.kind == Envelope::Kind::Error,
      .rules = result_rules(*plan, out)};
  Release release = co_await stages_.second_door.look_at(*plan, std::move(envelope),
                                                         std::move(context), fail_open);
  Ending ending{.outcome = Outcome::completed(release.released.to_result()),
                .effect = EffectState::Done};
  ending.release = std::move(release);
  co_return ending;
}

Task<HandOffs::Returned> HandOffs::receive(const Kept& kept, const Call& call,
                                           const ToolResult& result) {
  Recorder& recorder = stages_.parts.recorder;
  SALLYPORT_CO_TRY(const auto handed_out, recorder.fact(kHandedOut, call.call_id));
  const std::optional<Placed> placed = handed_out ? split_place(*handed_out) : std::nullopt;
  if (!placed) co_return fail(ErrorCode::Conflict, "the call is no longer handed out");
  SALLYPORT_CO_TRY(const json::object intent, recorder.entry(placed->sequence));
  Returned returned{.record = CallRecord::from_entry(intent)};
  FailOpen fail_open(stages_.fail_open);
  returned.ending = co_await pass_second_door({kept, call, returned.record.open_values()},
                                              envelope_of(result), fail_open);
  returned.fail_open = fail_open.take();
  returned.ending.outcome.result->duration_ms = result.duration_ms;
  returned.answer = {.call_id = call.call_id,
                     .outcome = returned.ending.outcome,
                     .effect = EffectState::Done,
                     .result = *returned.ending.outcome.result,
                     .released = returned.ending.release->released};
  co_return returned;
}

// `record` is of the intent, which names the used approval.
std::optional<Draft> HandOffs::memory_of(const CallRecord& record, const Call& call,
                                         const Ending& ending) {
  const std::shared_ptr<const Plan> plan = stages_.parts.plans.current();
  if (!plan->autonomy_rules() || record.tool_tier != Tier::Confirm) {
    return std::nullopt;
  }
  const bool good = ending.effect != EffectState::Unknown && ending.outcome.result &&
                    ending.outcome.result->success;
  const std::string& approval_id = record.announced.request_id;
  Classification classification = plan->classify(call);
  classification.effect_class = record.effect_class;
  Remembered ended{
      .call = call,
      .classification = classification,
      .tier = record.tier,
      .enforcement = approval_id.empty() ? Enforcement::Auto : Enforcement::ApprovalGranted,
      .succeeded = good,
      .approval_id = approval_id};
  const auto state = stages_.approvals.state(approval_id);
  if (!approval_id.empty() && state && *state) {
    const std::vector<Vote> votes = (*state)->counted();
    add_consent(ended, {.by = votes.empty() ? "" : votes.front().by,
                        .at = votes.empty() ? "" : votes.back().at,
                        .sequence = (*state)->sequence,
                        .votes = votes});
  }
  return plan->autonomy_rules()->remember(ended, stages_.parts.clock.wall());
}

Closer::Left HandOffs::left_of(const Returned& returned, const Call& call) {
  Closer::Left left{
      .record = returned.record, .ending = returned.ending, .fail_open = returned.fail_open};
  left.record.facts.push_back({std::string(kHandedOut), call.call_id, std::nullopt});
  left.record.facts.push_back({std::string(kAnswered), call.call_id, "", true});
  left.record.follow_row(Idempotency::Status::Completed);
  std::vector<Event>& events = left.ending.events;
  if (left.ending.release->verdict == Verdict::Kind::Deny) {
    events.emplace_back(event::PolicyDenied{left.record.subject->agent_id,
                                            left.record.subject->tool_name,
                                            left.ending.release->reason});
  }
  events.emplace_back(
      finished(left.record, returned.answer.result,
               output_preview(stages_.parts.redactor, returned.answer.result.output)));
  left.ending.memory = memory_of(returned.record, call, returned.ending);
  return left;
}

Task<std::vector<Answer>> HandOffs::complete(const Continuations::Found& found,
                                             Returning returning) {
  std::vector<Returned> all;
  std::vector<Closer::Left> left;
  for (const Call& call : found.kept.calls) {
    const auto given =
        std::ranges::find(returning.results, call.tool_call_id, &CallResult::tool_call_id);
    SALLYPORT_CO_TRY(Returned returned, co_await receive(found.kept, call, given->result));
    returned.ending.release->advisory = returning.report.advisory;
    returned.ending.release->asserted = returning.report.asserted;
    left.push_back(left_of(returned, call));
    all.push_back(std::move(returned));
  }
  for (Fact& fact : continuations_.answered(found.kept)) {
    left.back().record.facts.push_back(std::move(fact));
  }
  const std::string& id = found.kept.continuation.id;
  const Result<std::vector<Position>> closed =
      co_await stages_.closer.close(std::move(left), {Continuations::expected(id, found.stored)});
  if (!closed) {
    if (closed.error().code != ErrorCode::Conflict) owe(std::move(all), closed.error());
    co_return std::unexpected(closed.error());
  }
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].answer.sequence = closed->at(i).sequence;
    all[i].answer.record_id = closed->at(i).id;
    answers.push_back(std::move(all[i].answer));
  }
  co_return answers;
}

// Nothing is marked: the same results may be submitted again (AU-58).
void HandOffs::owe(std::vector<Returned> returned, const Error& error) {
  for (Returned& call : returned) {
    // Another submission was first: nothing is owed.
    const auto open = stages_.parts.recorder.fact(kHandedOut, call.answer.call_id);
    if (open && !*open) continue;
    Ending ending{
        .outcome = Outcome::persistence_failed("completed could not be recorded: " + error.message,
                                               call.ending.outcome.result),
        .effect = EffectState::Done,
        .release = std::move(call.ending.release),
        .terminal = false};
    Batch batch;
    stages_.journal.complete(std::move(call.record), ending, batch);
    stages_.parts.recorder.owe(std::move(batch).take());
  }
}

// Compares the results after the guards, so that removed content makes no difference.
Async<bool> HandOffs::gives_other_outcome(Out out, const ToolResult& again, const Envelope& first,
                                          FailOpen& fail_open) {
  Envelope envelope = envelope_of(again);
  if (same(first, envelope)) co_return false;
  const Ending ending = co_await pass_second_door(out, std::move(envelope), fail_open);
  co_return !same(first, ending.release->released);
}

namespace {

// A separate record for a repeated result. It ends no call.
CallRecord record_beside(const json::object& first, std::string call_id, bool differs) {
  CallRecord record = CallRecord::from_entry(first);
  record.subject.set(&Subject::call_id, std::move(call_id));
  record.trigger_id.clear();
  if (differs) {
    const GuardRun noted{.guard = "external.payload_differs",
                         .stage = "external",
                         .verdict = GuardVerdict::Allow,
                         .why = "the result recorded first counts"};
    json::value guards = record.open_values().at("guards");
    guards.as_array().push_back(to_json(noted));
    record.set("guards", guards);
  }
  return record;
}

void owe_replayed(Stages& stages, std::vector<Closer::Left> left, const Error& error) {
  for (Closer::Left& call : left) {
    Ending ending{.outcome = Outcome::persistence_failed(
                      "the repeated result could not be recorded: " + error.message)};
    Batch batch;
    stages.journal.complete(std::move(call.record), ending, batch);
    stages.parts.recorder.owe(std::move(batch).take());
  }
}

}  // namespace

// Each repetition gets its own record and the first released result, past the current second door.
Task<std::vector<Answer>> HandOffs::answer_again(const Kept& kept, Returning returning) {
  GovernorParts& parts = stages_.parts;
  std::vector<Answer> answers;
  std::vector<Closer::Left> left;
  for (const Call& call : kept.calls) {
    SALLYPORT_CO_TRY(const std::optional<std::uint64_t> at, record_of(call));
    if (!at) co_return fail(ErrorCode::NotFound, "the first answer is gone");
    SALLYPORT_CO_TRY(const json::object first, parts.recorder.entry(*at));
    SALLYPORT_CO_TRY(Performed recalled, stages_.execution.recall({.sequence = *at}));
    const auto given =
        std::ranges::find(returning.results, call.tool_call_id, &CallResult::tool_call_id);
    FailOpen fail_open(stages_.fail_open);
    const Out out{kept, call, first.at("body").as_object()};
    const bool differs =
        co_await gives_other_outcome(out, given->result, recalled.envelope, fail_open);
    Ending ending = co_await pass_second_door(out, std::move(recalled.envelope), fail_open);
    ending.outcome = Outcome::replayed(*ending.outcome.result);
    ending.release->advisory = returning.report.advisory;
    ending.release->asserted = returning.report.asserted;
    ending.effect = EffectState::None;
    CallRecord record = record_beside(first, uuid7_text(parts.clock, parts.entropy), differs);
    record.redactions = std::move(recalled.redactions);
    answers.push_back({.call_id = record.subject->call_id,
                       .outcome = ending.outcome,
                       .result = *ending.outcome.result,
                       .released = ending.release->released});
    left.push_back(
        {.record = std::move(record), .ending = std::move(ending), .fail_open = fail_open.take()});
  }
  const Result<std::vector<Position>> closed = co_await stages_.closer.close(left, {});
  if (!closed) {
    owe_replayed(stages_, std::move(left), closed.error());
    co_return std::unexpected(closed.error());
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    answers[i].sequence = closed->at(i).sequence;
    answers[i].record_id = closed->at(i).id;
  }
  co_return answers;
}

Task<Answer> HandOffs::note_asserted(CallResult reported, std::string session_id, Report report) {
  GovernorParts& parts = stages_.parts;
  SALLYPORT_CO_CHECK_OK(parts.recorder.accept_call());
  SALLYPORT_CO_CHECK_OK(check_content({reported}));
  Idempotency& rows = stages_.idempotency;
  const Call named{.tool_call_id = reported.tool_call_id, .session_id = std::move(session_id)};
  SALLYPORT_CO_TRY(const std::optional<Idempotency::Row> row, rows.row(rows.key(named)));
  const Result<std::optional<std::string>> handed_out =
      row ? parts.recorder.fact(kHandedOut, row->call_id) : std::optional<std::string>();
  if (!handed_out) co_return std::unexpected(handed_out.error());
  const std::optional<Placed> placed = *handed_out ? split_place(**handed_out) : std::nullopt;
  if (!placed) co_return fail(ErrorCode::Conflict, "the call is no longer handed out");
  SALLYPORT_CO_TRY(const json::object intent, parts.recorder.entry(placed->sequence));
  CallRecord record = record_beside(intent, uuid7_text(parts.clock, parts.entropy), false);
  SALLYPORT_CO_TRY(const auto found, continuations_.load(record.announced.continuation_id));
  const Kept kept = found ? found->kept : Kept{};
  const auto call = std::ranges::find(kept.calls, row->call_id, &Call::call_id);
  if (call == kept.calls.end()) {
    co_return fail(ErrorCode::Conflict, "the call is no longer handed out");
  }
  record.set("asserted_of", json::value(row->call_id));
  FailOpen fail_open(stages_.fail_open);
  Ending ending = co_await pass_second_door({kept, *call, record.open_values()},
                                            envelope_of(reported.result), fail_open);
  ending.outcome.result->duration_ms = reported.result.duration_ms;
  ending.effect = EffectState::Unknown;
  ending.release->advisory = report.advisory;
  ending.release->asserted = report.asserted;
  Answer answer{.call_id = record.subject->call_id,
                .outcome = ending.outcome,
                .effect = ending.effect,
                .result = *ending.outcome.result,
                .released = ending.release->released};
  std::vector<Closer::Left> left;
  left.push_back(
      {.record = std::move(record), .ending = std::move(ending), .fail_open = fail_open.take()});
  SALLYPORT_CO_TRY(const std::vector<Position> closed,
                   co_await stages_.closer.close(std::move(left), {}));
  answer.sequence = closed.front().sequence;
  answer.record_id = closed.front().id;
  co_return answer;
}

Task<void> HandOffs::expire() {
  GovernorParts& parts = stages_.parts;
  SALLYPORT_CO_TRY(const std::vector<Fact> open, parts.recorder.facts(kHandedOut));
  for (const Fact& fact : open) {
    const std::optional<Placed> placed = split_place(*fact.value);
    if (!placed) continue;
    const std::optional<WallTime> deadline = from_rfc3339(placed->value);
    if (deadline && parts.clock.wall() < *deadline) continue;
    SALLYPORT_CO_TRY(const json::object intent, parts.recorder.entry(placed->sequence));
    SALLYPORT_CO_CHECK_OK(co_await expire_call(fact, CallRecord::from_entry(intent)));
  }
  co_return Result<void>{};
}

// `record` is of the intent.
Task<void> HandOffs::expire_call(Fact fact, CallRecord record) {
  Ending ending{.outcome = Outcome::invalidated("the hand-off expired without a result"),
                .effect = EffectState::Unknown};
  ending.events.push_back(finished(record, {.success = false}, ending.outcome.text));
  ending.memory = memory_of(record, call_of(record.subject), ending);
  record.facts.push_back({std::string(kHandedOut), fact.key, std::nullopt});
  record.follow_row(Idempotency::Status::Unknown);
  for (Fact& closed : Continuations::expired(record.announced.continuation_id)) {
    record.facts.push_back(std::move(closed));
  }
  std::vector<Closer::Left> left;
  left.push_back({.record = std::move(record), .ending = std::move(ending)});
  const auto closed = co_await stages_.closer.close(std::move(left), {fact});
  // Another process, or the result itself, was quicker.
  if (!closed && closed.error().code == ErrorCode::Conflict) co_return Result<void>{};
  if (!closed) co_return std::unexpected(closed.error());
  co_return Result<void>{};
}

}  // namespace sallyport::core
