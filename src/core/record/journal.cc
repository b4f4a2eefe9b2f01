#include "core/record/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "core/decision/decision_context.h"
#include "core/decision/session_workspace.h"
#include "core/event/emitter.h"
#include "core/event/topic_event.h"
#include "core/handoff/waiting_facts.h"
#include "core/record/artifacts.h"
#include "core/record/finding.h"
#include "core/record/plain_text.h"
#include "core/record/shapes.h"
#include "sallyport/event.h"

namespace sallyport::core {

namespace {

// The origin of a call that an event of its front started (AT-12).
json::object dispatch_of(const Call& call) {
  const auto trigger_member = [&](const char* name) {
    const auto found = call.setting.trigger.find(name);
    return found == call.setting.trigger.end() ? std::string() : found->second;
  };
  return {{"dispatch_id", call.call_id},
          {"trigger", json::object{{"id", call.trigger_id},
                                   {"provider", trigger_member("provider")},
                                   {"kind", trigger_member("kind")},
                                   {"trace_id", call.trace_id},
                                   {"headers", json::object()}}},
          {"binding_id", call.setting.front},
          {"binding_version", 1},
          {"agent_id", call.agent_id},
          {"action", call.tool},
          {"autonomy_tier",
           call.context_tier ? json::value(to_string(*call.context_tier)) : json::value()}};
}

DecisionContext context_of(const Trail& trail) {
  const std::string& source = trail.classification().source;
  return {.decided_at = trail.decided_at,
          .as_of = trail.as_of,
          .class_source = source.empty() ? "unknown" : source,
          .caution = trail.cautious(),
          .definition = trail.tool_definition(),
          .front = front_word(trail.call().setting.front)};
}

std::string provenance_text(const Provenance& provenance) {
  CanonicalWriter out;
  out.object([&] {
    out.put("model", provenance.model);
    out.put("provider", provenance.provider);
  });
  return std::move(out).take();
}

void add_content(const Trail& trail, CallRecord& record) {
  const Call& call = trail.call();
  constexpr std::size_t kMembers = 6;
  record.content.reserve(kMembers);
  record.content.push_back({"effective_input", trail.input_text()});
  record.content.push_back({"guards", trail.guards_text()});
  record.content.push_back({"provenance", provenance_text(call.provenance)});
  record.content.push_back({"requested_input", trail.requested_text()});
  if (trail.rules) {
    json::object rules = trail.rules->record;
    if (!trail.scene.empty()) rules["scene"] = trail.scene;
    record.set("rules", std::move(rules));
  }
  if (!trail.replay_of.empty()) {
    record.set("replay_of_event_id", json::value(trail.replay_of));
  } else if (!call.trigger_id.empty() && !call.setting.trigger.empty()) {
    record.set("dispatch", dispatch_of(call));
  }
}

CallRecord record_of(const Trail& trail) {
  const Call& call = trail.call();
  const Classification& tool = trail.classification();
  CallRecord record{
      .subject = trail.subject(),
      .tool_call_id = call.tool_call_id,
      .display_name = tool.display_name.empty() ? call.tool : tool.display_name,
      .tool_tier = tool.tier,
      .turn = call.turn,
      .request_digest = trail.request_digest(),
      .call_digest = trail.call_digest(),
      .effect_class = tool.effect_class,
      .recovery_class = trail.recovery_class(),
      .tier = trail.autonomy,
      .tier_source = trail.autonomy_source,
      .approval_id = trail.approval_id,
      .matched_grant_index = trail.grant ? std::optional(trail.grant->index) : std::nullopt,
      .trigger_id = trail.replay_of.empty() ? call.trigger_id : std::string(),
      .decision = context_of(trail)};
  add_content(trail, record);
  if (call.raw_input) {
    for (const char* const path : {"/requested_input", "/effective_input"}) {
      record.exact.push_back({.path = path, .bytes = *call.raw_input, .raw = true});
    }
  }
  return record;
}

// The idempotency row follows the effect. An answer may be served again. An effect with an unknown
// end must not be repeated. A call that never began leaves no row. An answer that no guard judged
// because of a cancel does not count (AU-50).
std::optional<Fact> row_after(const Trail& trail, const Ending& ending) {
  if (trail.row_key.empty() || !trail.announced) return std::nullopt;
  if (ending.effect == EffectState::None) {
    if (!trail.row) return Idempotency::no_row(trail.row_key);
    // The effect of an earlier attempt stays unknown.
    Idempotency::Row earlier = *trail.row;
    earlier.status = Idempotency::Status::Unknown;
    return Idempotency::fact(trail.row_key, earlier);
  }
  const bool cancelled = ending.release && ending.release->cancelled;
  const bool asserted = ending.release && ending.release->asserted;
  const bool answered = (ending.effect == EffectState::Done || asserted) && !cancelled;
  return Idempotency::fact(trail.row_key, {.call_id = trail.call().call_id,
                                           .request_digest = trail.request_digest(),
                                           .status = answered ? Idempotency::Status::Completed
                                                              : Idempotency::Status::Unknown,
                                           .started_at = trail.started_at});
}

bool pins_workspace(const Fact& fact) {
  return fact.space == kWorkspaceSpace;
}

// The token that the record names becomes known, so that it can be listed and revoked.
void introduce_token(const Trail& trail, std::vector<std::shared_ptr<const FactChange>>& changes) {
  if (trail.shown_grant) {
    changes.push_back(unless_stored(trail.shown_grant->spending.introduces));
  }
}

// The first entry of a call pins the workspace, because a call that waits for a person, or that a
// host executes, may never end (RU-36). The first call of a session wins.
void pin_workspace(const Trail& trail, Draft& draft) {
  const auto pin = std::ranges::find_if(trail.closing_facts, pins_workspace);
  if (pin != trail.closing_facts.end()) {
    draft.changes.push_back(unless_stored({*pin}));
  }
}

// As many entries as usually follow the rows of a call in one commit.
constexpr std::size_t kRowsBehind = 4;

// True for an event that one call announces for all calls.
bool is_announced_once(const Draft& row) {
  return row.topic == kAutonomyTopic;
}

bool fits_an_entry(const Draft& row) {
  return row.kind != Kind::Event || row.body.is_sound();
}

// False under `durability: relaxed`, for a call that has not been on disk yet.
bool waits_for_disk(const Trail& trail) {
  return trail.plan().durability() != IntentDurability::Relaxed || trail.intent_durable ||
         !trail.approval_id.empty() || !trail.closing_expected.empty();
}

std::vector<Draft> finding_rows(const Release& release, const SharedSubject& subject) {
  std::vector<Draft> rows;
  for (const Finding& finding : release.findings) rows.push_back(finding_row(finding, subject));
  return rows;
}

// Adds the item that a guard opened before the call to the evidence of the guard.
void name_escalations(Trail& trail, const std::vector<std::string>& ids) {
  std::size_t next = 0;
  for (GuardRun& run : trail.change_guard_runs()) {
    if (run.verdict != GuardVerdict::Escalate || next == ids.size()) continue;
    run.evidence = json::object{{"escalation_id", ids[next++]}};
  }
}

}  // namespace

Draft Journal::intent(Trail& trail) const {
  trail.started_at = rfc3339(parts_.clock.wall());
  CallRecord record = record_of(trail);
  record.announced = {.started_at = trail.started_at,
                      .row_key = trail.row_key,
                      .continuation_id = trail.continuation_id};
  if (trail.consent) {
    record.announced.request_id = trail.consent->approval_id;
    record.announced.binding = trail.consent->binding;
  }
  return std::move(record).intent();
}

Draft Journal::joined(const Trail& trail) const {
  Draft draft = record_of(trail).audit();
  draft.kind = Kind::Approval;
  draft.body["record"] = "approval_joined";
  draft.body["request_id"] = trail.approval_id;
  introduce_token(trail, draft.changes);
  return draft;
}

EndPlaces Journal::record(Trail& trail, Ending& ending, Batch& batch) const {
  Escalations::Opened opened;
  if (ending.terminal && !trail.escalations.empty()) {
    // Those of progress messages come as the guard wrote them (PI-88).
    for (Escalation& escalation : trail.escalations) {
      escalation.message = plain_text(parts_.redactor, std::move(escalation.message));
    }
    opened = parts_.escalations.open(trail.escalations, trail.subject());
    name_escalations(trail, opened.ids);
  }
  CallRecord record = record_of(trail);
  record.in_front = std::move(opened.drafts);
  record.facts = std::move(opened.counts);
  record.redactions = trail.repeated_redactions;
  if (ending.terminal) {
    // Releases what was reserved for a call that never ran (CG-50).
    if (!trail.announced && (trail.may_be_asked || !trail.approval_id.empty())) {
      record.changes.push_back(budgets::reverse(trail.call().call_id));
    }
    if (!trail.announced) introduce_token(trail, record.changes);
    for (const Fact& fact : trail.closing_facts) {
      if (!pins_workspace(fact)) record.facts.push_back(fact);
    }
    if (trail.opened)
      record.facts.push_back({std::string(kOpenCall), trail.call().call_id, std::nullopt});
    if (!trail.handed_out_until.empty() && trail.announced) {
      record.facts.push_back({std::string(kHandedOut), trail.call().call_id, std::nullopt});
    }
    // A caller that repeats a call with an unknown end runs the prepared operation (AU-78).
    const bool end_is_known =
        ending.effect == EffectState::Done || (ending.effect == EffectState::None && !trail.row);
    if (trail.prepared() && !trail.row_key.empty() && end_is_known) {
      record.facts.push_back({std::string(kPreparedCall), trail.row_key, std::nullopt});
    }
    if (std::optional<Fact> row = row_after(trail, ending)) {
      record.facts.push_back(std::move(*row));
    }
  }
  return complete(std::move(record), ending, batch);
}

EndPlaces Journal::complete(CallRecord record, Ending& ending, Batch& batch) const {
  if (ending.outcome.result) {
    const Artifacts artifacts{parts_.redactor, parts_.entropy, parts_.digest};
    std::optional<Draft> artifact =
        artifacts.move_out(*ending.outcome.result, record.subject, record.redactions);
    if (artifact) record.in_front.push_back(std::move(*artifact));
  }
  if (ending.release) append(record.in_front, finding_rows(*ending.release, record.subject));
  if (ending.terminal && ending.release) {
    append(record.in_front,
           open_escalations(*ending.release, record.subject, record.facts, record.in_front));
  }
  return add_end(std::move(record), ending, batch);
}

// The escalations of the second door: items before the record, which names them.
std::vector<Draft> Journal::open_escalations(Release& release, const SharedSubject& subject,
                                             std::vector<Fact>& facts,
                                             const std::vector<Draft>& beside) const {
  if (release.escalations.empty()) return {};
  Escalations::Opened opened = parts_.escalations.open(release.escalations, subject, beside);
  for (Fact& count : opened.counts) facts.push_back(std::move(count));
  release.escalation_ids = std::move(opened.ids);
  return std::move(opened.drafts);
}

std::vector<Draft> Journal::late_result(const Call& call, const std::string& policy_hash,
                                        Release release, std::chrono::nanoseconds after) const {
  using std::chrono::milliseconds;
  Draft draft{.kind = Kind::Topic,
              .subject = Subject{.policy_hash = policy_hash,
                                 .call_id = call.call_id,
                                 .session_id = call.session_id,
                                 .agent_id = call.agent_id,
                                 .server = call.server,
                                 .tool_name = call.tool,
                                 .trace_id = call.trace_id,
                                 .run_id = call.run_id},
              .topic = "late_results",
              .body = {{"record", "late_result"},
                       {"tool_call_id", call.tool_call_id},
                       {"duration_ms", std::chrono::duration_cast<milliseconds>(after).count()}}};
  std::vector<Draft> drafts = finding_rows(release, draft.subject);
  append(drafts, open_escalations(release, draft.subject, draft.facts, {}));
  draft.body["post_invocation"] = release.to_json();
  commit_to_release(draft, release);
  drafts.push_back(std::move(draft));
  return drafts;
}

std::vector<Draft> Journal::gathered(Trail& trail, FailOpenLog::Share& share) const {
  std::vector<Draft> drafts;
  drafts.reserve(share.drafts.size() + trail.rows.size() + kRowsBehind);
  drafts.insert(drafts.end(), share.drafts.begin(), share.drafts.end());
  for (Draft& draft : drafts) draft.subject.set(&Subject::policy_hash, trail.plan().hash());
  drafts.insert(drafts.end(), trail.rows.begin(), trail.rows.end());
  return drafts;
}

Task<Written> Journal::commit(Trail& trail, Batch batch, Urgency urgency,
                              std::vector<Fact> expected) {
  // Another call may have announced the same meanwhile: then all is written again without it.
  const bool announces_once = std::ranges::any_of(trail.rows, is_announced_once);
  Batch again = announces_once ? batch : Batch{};
  FailOpenLog::Share share = trail.fail_open.take();
  std::vector<Draft> all = gathered(trail, share);
  const std::size_t before = all.size();
  append(all, std::move(batch).take());
  if (all.empty()) co_return Written{};
  for (const Fact& fact : share.facts) all.back().facts.push_back(fact);
  pin_workspace(trail, all.back());
  if (urgency == Urgency::Reports && !waits_for_disk(trail)) {
    for (Draft& draft : all) draft.waits_for_disk = false;
  }
  Result<std::vector<Position>> written =
      co_await parts_.records.append(std::move(all), urgency, expected);
  if (written) {
    trail.rows.clear();
    std::erase_if(trail.closing_facts, pins_workspace);
    co_return Written(std::move(*written), before);
  }
  trail.fail_open.absorb(std::move(share));
  if (!announces_once || written.error().cause != kAnnouncedBefore)
    co_return std::unexpected(written.error());
  std::erase_if(trail.rows, is_announced_once);
  co_return co_await commit(trail, std::move(again), urgency, std::move(expected));
}

Task<Journal::Ended> Journal::end(Trail& trail, Ending& ending) {
  std::vector<Fact> expected = trail.closing_expected;
  // Claims a row that is not claimed yet, unless another process was first.
  const bool claims = trail.announced && !trail.intent_durable && !trail.row_key.empty();
  if (claims) expected.push_back(Idempotency::expected(trail.row_key, trail.row));
  Batch batch;
  EndPlaces places = record(trail, ending, batch);
  Result<Written> written =
      co_await commit(trail, std::move(batch), Urgency::Reports, std::move(expected));
  if (!written && claims && written.error().code == ErrorCode::Conflict) {
    trail.row_key.clear();
    Batch unclaimed;
    places = record(trail, ending, unclaimed);
    written =
        co_await commit(trail, std::move(unclaimed), Urgency::Reports, trail.closing_expected);
  }
  if (written) {
    Ended ended{.record = (*written)[places.record], .events = {}};
    for (const Batch::Handle event : places.events) ended.events.push_back((*written)[event]);
    co_return ended;
  }
  const Error error = written.error();
  // Another process has ended this call, or it was resumed and still waits.
  if (error.code == ErrorCode::Conflict || !trail.closing_expected.empty()) {
    co_return std::unexpected(error);
  }
  co_await end_without_record(trail, std::move(ending), error);
  co_return std::unexpected(error);
}

// An unwritten record is owed. A record that fits into no entry loses its content.
Async<void> Journal::end_without_record(Trail& trail, Ending ending, const Error& error) {
  const bool ran = ending.outcome.kind == Outcome::Kind::Completed;
  const bool fits = error.code != ErrorCode::InvalidInput;
  Ending failed{.outcome = Outcome::persistence_failed(
                    fmt::format("{} could not be recorded: {}", to_string(ending.outcome.kind),
                                error.message),
                    ran && fits ? ending.outcome.result : std::nullopt),
                .effect = ending.effect,
                .release = ran && fits ? std::move(ending.release) : std::nullopt,
                .events = std::move(ending.events),
                .memory = std::move(ending.memory)};
  if (fits) co_return owe(trail, std::move(failed));
  // The ledger works, but the record does not fit into an entry: a smaller record says so.
  trail.forget_evidence();
  std::erase_if(trail.rows, [](const Draft& row) { return !fits_an_entry(row); });
  std::erase_if(failed.events,
                [](const Event& event) { return !fits_an_entry(event_row(event, {})); });
  const auto write_bare = [&] {
    Ending bare = failed;
    bare.memory.reset();
    Batch batch;
    record(trail, bare, batch);
    return commit(trail, std::move(batch), Urgency::Reports);
  };
  Result<Written> bare = co_await write_bare();
  if (!bare && bare.error().code == ErrorCode::InvalidInput) {
    trail.forget_content();
    bare = co_await write_bare();
  }
  if (!bare) owe(trail, std::move(failed));
}

void Journal::owe(Trail& trail, Ending ending) {
  // Owed rows must not be refused, so other calls announce these.
  std::erase_if(trail.rows, is_announced_once);
  FailOpenLog::Share share = trail.fail_open.take();
  std::vector<Draft> drafts = gathered(trail, share);
  Batch batch;
  const EndPlaces places = record(trail, ending, batch);
  for (const Fact& fact : share.facts) batch[places.record].facts.push_back(fact);
  pin_workspace(trail, batch[places.record]);
  append(drafts, std::move(batch).take());
  trail.rows.clear();
  parts_.records.owe(std::move(drafts));
}

void Journal::owe_rows(Trail& trail) {
  std::erase_if(trail.rows, is_announced_once);
  FailOpenLog::Share share = trail.fail_open.take();
  std::vector<Draft> drafts = gathered(trail, share);
  trail.rows.clear();
  if (drafts.empty()) return;
  for (Fact& fact : share.facts) drafts.back().facts.push_back(std::move(fact));
  parts_.records.owe(std::move(drafts));
}

}  // namespace sallyport::core
