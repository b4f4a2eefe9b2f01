// The first door: one decision about a call, told from its start to its end, and the question to a
// person where one is needed.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/race.h"
#include "base/shielded.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/approval_request.h"
#include "core/call_preview.h"
#include "core/decision.h"
#include "core/governor.h"
#include "core/not_run.h"
#include "core/pending_call.h"
#include "core/preparing.h"
#include "core/topic_event.h"
#include "core/waiting_facts.h"

namespace sallyport::core {

namespace {

Result<json::value> structured_input(const Upstream& upstream, const Call& call) {
  SALLYPORT_TRY(Result<json::value> structured,
                shielded("the tool's preview", [&] { return upstream.structured_input(call); }));
  if (structured) SALLYPORT_CHECK_OK(check_json(*structured));
  return structured;
}

// Numbers that a double cannot hold are shown as the text that came.
bool call_is_exact(const Call& call) {
  return !call.raw_input.has_value();
}

// A coroutine of its own keeps the approver alive when nobody waits for it any more.
Async<Result<Reply>> consult(std::shared_ptr<const Approver> approver, Question question) {
  co_return co_await approver->answer(std::move(question));
}

std::string display_name(const Trail& trail) {
  const std::string& name = trail.classification().display_name;
  return name.empty() ? trail.call().tool : name;
}

}  // namespace

Async<void> Governor::authorize(Trail& trail, const std::shared_ptr<Upstream>& upstream,
                                const std::stop_token& cancel) {
  if (upstream->raises_caution()) trail.raise_caution();
  trail.tool_definition(upstream->definition());
  if (const Result<void> ready = parts_.recorder.ready(); !ready) {
    // Nothing was announced, so nobody hears of it.
    trail.refuse({"event sink failed: audit: " + ready.error().message, Refusal::By::Listener});
    trail.needs_person = false;
    list_unreached(trail);
    co_return;
  }
  Preview preview = preview_of(trail.call(), trail.classification(), upstream->working_directory());
  const Result<json::value> structured = structured_input(*upstream, trail.call());
  if (structured)
    preview.structured_input = call_is_exact(trail.call()) ? *structured : preview.raw_input;
  const Call& call = trail.call();
  const Event started =
      event::ToolAuthorizationStarted{call.agent_id, call.tool, call.tool_call_id, preview};
  trail.rows.push_back(started);
  const Result<void> told = co_await tell(trail, started);
  if (!told) {
    trail.refuse({told.error().message, Refusal::By::Listener});
  } else if (!upstream->known()) {
    trail.refuse({fmt::format("unknown tool `{}`", call.tool)});
  } else if (!structured) {
    trail.refuse(
        {"the call cannot be previewed: " + structured.error().message, Refusal::By::Tool});
  }
  if (trail.open()) {
    co_await judge_call(trail, preview, upstream, cancel);
  } else if (trail.guard_runs.empty()) {
    list_unreached(trail);
  }
  if (trail.open()) weigh_autonomy(trail);
  co_await tell_decision(trail);
}

Async<void> Governor::judge_call(Trail& trail, const Preview& preview,
                                 const std::shared_ptr<Upstream>& upstream,
                                 const std::stop_token& cancel) {
  if (trail.prepared()) {
    if (const auto over = expired(*trail.prepared(), parts_.clock.wall())) {
      trail.refuse({*over, Refusal::By::Preparation});
      co_return;
    }
  }
  co_await decide(trail, preview, parts_.clock, cancel);
  if (!trail.open() || trail.prepared() || upstream->preparing() == nullptr) co_return;
  if (!recall_preparation(trail)) {
    std::optional<Event> denied = co_await prepare(trail, upstream, parts_.clock, cancel);
    if (denied) co_await report(trail, std::move(*denied));
  }
  // What will run is what was prepared, so that is decided about too.
  if (trail.open()) co_await decide(trail, preview, parts_.clock, cancel);
}

// A prepared operation that outlived the process that had it in hand is executed, not prepared
// again (AU-78).
bool Governor::recall_preparation(Trail& trail) {
  const std::string key = idempotency_.key(trail.call());
  if (key.empty()) return false;
  const Result<std::optional<Idempotency::Row>> row = idempotency_.row(key);
  if (!row || !*row || (*row)->status != Idempotency::Status::Unknown) return false;
  if ((*row)->request_digest != trail.request_digest()) return false;
  const Result<json::object> entry = parts_.recorder.entry((*row)->sequence);
  const json::object* const body = entry ? object_in(*entry, "body") : nullptr;
  if (body == nullptr || text_in(*body, "recovery_class") != "resumable") return false;
  // What redaction changed is not what was confirmed.
  if (entry->contains("redactions")) return false;
  const json::object* const input = object_in(*body, "effective_input");
  if (input == nullptr) return false;
  const json::value* const snapshot = input->if_contains("prepared_snapshot");
  Prepared prepared{.operation_id = std::string(text_in(*input, "operation_id").value_or("")),
                    .revision = number_in(*input, "revision").value_or(0),
                    .snapshot = snapshot ? *snapshot : json::value()};
  if (prepared.operation_id.empty()) return false;
  if (const auto end = text_in(*input, "expires_at")) prepared.expires_at = std::string(*end);
  trail.prepared(std::move(prepared), true);
  trail.recalled = true;
  return true;
}

// What a tier is asked of, and what the answer carries with it.
void Governor::find_tier(Trail& trail) const {
  const std::optional<Autonomy> ceiling = trail.grant ? trail.grant->ceiling : std::nullopt;
  trail.spending.reset();
  if (const auto& rules = trail.plan().autonomy_rules()) {
    AutonomyAnswer answer =
        rules->weigh({trail.call(), trail.classification(), ceiling, trail.tier_steps},
                     parts_.recorder, parts_.clock.wall());
    trail.autonomy = answer.tier;
    trail.autonomy_source = std::move(answer.source);
    trail.needs_human = answer.needs_human;
    trail.spending = std::move(answer.spending);
    for (Draft& event : answer.events) trail.rows.push_back(std::move(event));
    return;
  }
  if (trail.tier_steps) trail.tier_steps->push_back({trail.autonomy_source, trail.autonomy, {}});
  if (trail.tier_steps && ceiling) trail.tier_steps->push_back({"grant", *ceiling, {}});
  if (ceiling && *ceiling < trail.autonomy) {
    trail.autonomy = *ceiling;
    trail.autonomy_source = "grant";
  }
}

// What would have run, for whoever follows the outbox (LG-8).
void Governor::propose(Trail& trail) const {
  const Call& call = trail.call();
  trail.rows.push_back(dispatch_proposed({.about = {.agent = call.agent_id,
                                                    .trace_id = call.trace_id,
                                                    .autonomy_tier = trail.autonomy},
                                          .action = trail.classification().effect_class,
                                          .tool = call.tool,
                                          .effect_class = trail.classification().effect_class,
                                          .input = call.input,
                                          .call_id = call.call_id,
                                          .approval_request_id = trail.approval_id}));
}

void Governor::weigh_autonomy(Trail& trail) const {
  find_tier(trail);
  const bool confirm = trail.classification().tier == Tier::Confirm;
  trail.weighed = trail.weighed || confirm;
  if (confirm && trail.autonomy == Autonomy::Shadow) {
    propose(trail);
    trail.refuse({"shadow: " + trail.call().tool + " was not run", Refusal::By::Autonomy});
    return;
  }
  const bool asks = trail.question || (confirm && trail.autonomy != Autonomy::ActAuto);
  trail.needs_person =
      asks && !(trail.consent && trail.consent->call_digest == trail.call_digest());
}

// One finish for each start, with the same reason in all that speak of it (EV-33..EV-39).
Async<void> Governor::tell_decision(Trail& trail) {
  const Call& call = trail.call();
  using event::Authorization;
  Authorization outcome = Authorization::Allow;
  std::optional<std::string> reason;
  if (!trail.open()) {
    trail.needs_person = false;
    outcome = Authorization::Deny;
    reason = trail.refusal()->reason;
    if (trail.refusal()->by == Refusal::By::Plan) {
      co_await report(trail, event::PolicyDenied{call.agent_id, call.tool, *reason});
    } else if (trail.refusal()->by == Refusal::By::Hook) {
      co_await report(
          trail, event::ToolExecutionBlocked{call.agent_id, call.tool, call.tool_call_id, *reason});
    }
  } else if (trail.needs_person) {
    outcome = Authorization::Prompt;
    reason = describe(trail);
  }
  co_await report(trail, event::ToolAuthorizationFinished{call.agent_id, call.tool,
                                                          call.tool_call_id, outcome, reason});
  if (outcome == Authorization::Allow) co_return;
  co_await report(trail, event::ToolAuthorizationBlocked{call.agent_id, call.tool,
                                                         call.tool_call_id, outcome, reason});
}

Async<void> Governor::report(Trail& trail, Event event) {
  trail.rows.push_back(event);
  // A reporting event has no error: what fails is in the rows.
  (void)co_await tell(trail, event);
}

Task<void> Governor::tell(Trail& trail, const Event& event) {
  if (!emitter_.has_hooks()) co_return Result<void>{};
  std::vector<Draft> failed;
  const Result<void> told = co_await emitter_.tell(event, trail.subject(), failed);
  for (Draft& draft : failed) trail.rows.push_back(std::move(draft));
  co_return told;
}

// The grant fitted and has no room left: its guard has the last word, and the record says so.
void Governor::refuse_spending(Trail& trail, const Error& error) {
  for (GuardRun& run : trail.guard_runs) {
    if (run.stage != to_string(Stage::Grant) || run.verdict != "allow") continue;
    run.verdict = "deny";
    run.rule = error.cause;
    if (json::object* const evidence = run.evidence.if_object()) {
      (*evidence)["check"] = "budget";
      (*evidence)["code"] = error.cause;
    }
  }
  trail.refuse({error.cause});
}

std::string Governor::describe(const Trail& trail) {
  if (trail.question && !trail.question->empty()) return *trail.question;
  return fmt::format("Confirm {}?", display_name(trail));
}

Question Governor::question_about(Trail& trail) const {
  const Call& call = trail.call();
  WallTime until = parts_.clock.wall() + trail.plan().approval_time();
  if (call.time_limit) until = std::min(until, parts_.clock.wall() + *call.time_limit);
  if (trail.prepared() && trail.prepared()->expires_at) {
    until = std::min(until, from_rfc3339(*trail.prepared()->expires_at).value_or(until));
  }
  trail.approval_id = "apr_" + uuid7_text(parts_.clock, parts_.entropy);
  const ApprovalRules& rules = trail.plan().approvals();
  const bool two = rules.needs_two(call.tool, trail.classification());
  Question question{.approval_id = trail.approval_id,
                    .call_id = call.call_id,
                    .tool_call_id = call.tool_call_id,
                    .session_id = call.session_id,
                    .agent_id = call.agent_id,
                    .server = call.server,
                    .tool = call.tool,
                    .description = describe(trail),
                    .input = call.input,
                    .call_digest = trail.call_digest(),
                    .policy_hash = trail.plan().hash(),
                    .prepared = trail.prepared(),
                    .expires_at = rfc3339(until),
                    .kind = two ? "dual_control" : "approval",
                    .trace_id = call.trace_id,
                    .action = trail.classification().effect_class,
                    .tool_definition = trail.tool_definition(),
                    .nonce = fresh_nonce(parts_.entropy),
                    .reviewers = rules.reviewers,
                    .approvers_required = std::max<std::uint64_t>(rules.quorum, two ? 2 : 1),
                    .requested_at = rfc3339(parts_.clock.wall()),
                    .proposal = trail.autonomy == Autonomy::Suggest};
  question.binding = binding_of(question, trail.exact_text());
  return question;
}

// The question is on record before anybody is asked. False: the caller does not wait for it.
Task<bool> Governor::ask(Trail& trail, const Caller& caller) {
  const bool held = caller.holds && trail.autonomy != Autonomy::Suggest;
  SALLYPORT_CO_TRY(const SameQuestion same, same_question(trail));
  const bool may_attach = held && !trail.prepared() && !trail.consent;
  if (may_attach && trail.closing_expected.empty() && !same.approval_id.empty()) {
    co_return co_await attach(trail, caller, same.approval_id);
  }
  const Asking asking{
      .question = question_about(trail),
      .like_it = same.expected,
      .held = held,
      .only_here = trail.prepared() && trail.recovery_class() != RecoveryClass::Resumable};
  AskingRows rows = rows_of(trail, asking);
  const std::size_t behind = rows.behind;
  const auto written = co_await journal_.commit(trail, std::move(rows.drafts), Urgency::Announces,
                                                std::move(rows.expected));
  if (!written) {
    const bool asked_meanwhile =
        held && trail.closing_expected.empty() && written.error().code == ErrorCode::Conflict;
    if (asked_meanwhile) co_return co_await ask(trail, caller);
    co_return question_refused(trail, written.error());
  }
  trail.asked_at = written->at(written->size() - 1 - behind);
  co_await tell_sinks(trail, trail.asked_at.sequence);
  if (!held) co_return false;
  if (!asking.only_here && !trail.held) hold_fact(trail);
  if (caller.leaves) co_return false;
  co_return co_await hear_answer(trail, asking.question, caller);
}

// The record that a person is needed, what keeps the call meanwhile, and the question itself.
Governor::AskingRows Governor::rows_of(Trail& trail, const Asking& asking) {
  const Question& question = asking.question;
  const std::string& call_id = trail.call().call_id;
  Ending asked{.outcome = Outcome::requires_confirmation(question.description, trail.prepared()),
               .terminal = false};
  AskingRows rows{.drafts = journal_.record(trail, asked), .expected = trail.closing_expected};
  Draft& record = rows.drafts.back();
  if (asking.only_here) {
    record.facts.push_back({"open_call", call_id, parts_.recorder.instance_id(), true});
    trail.opened = true;
  }
  if (trail.autonomy == Autonomy::Suggest) {
    propose(trail);
    remember_proposal(trail);
    record.facts.push_back(proposed_call(trail));
  }
  if (!asking.held) {
    record.facts.push_back({"waiting_call", call_id, question.approval_id});
    // Asked before and held then: now nobody waits here for it any more.
    if (trail.held) record.facts.push_back({std::string(kHeldCall), call_id, std::nullopt});
  } else if (!asking.only_here) {
    record.facts.push_back(held_call(call_id, question.approval_id, parts_.recorder.instance_id()));
  }
  record.facts.push_back({asking.like_it.space, asking.like_it.key, question.approval_id});
  if (asking.held) rows.expected.push_back(asking.like_it);
  if (trail.grant) {
    record.changes.push_back(budgets::hold(
        trail.grant->spending, {call_id, parts_.recorder.instance_id()}, parts_.clock.wall()));
  }
  void_consent(trail, rows);
  std::vector<Draft> opening =
      approvals_.asked(question, trail.plan().approvals().use_within, trail.subject());
  rows.behind = opening.size();
  for (Draft& draft : opening) rows.drafts.push_back(std::move(draft));
  return rows;
}

void Governor::remember_proposal(Trail& trail) const {
  const auto& rules = trail.plan().autonomy_rules();
  if (!rules) return;
  trail.rows.push_back(rules->remember({.call = trail.call(),
                                        .classification = trail.classification(),
                                        .tier = trail.autonomy,
                                        .enforcement = "suggest_approval_request",
                                        .outcome = "denied",
                                        .approval_id = trail.approval_id},
                                       parts_.clock.wall()));
}

// A yes that was given for another input is none for this one (EV-75).
void Governor::void_consent(Trail& trail, AskingRows& rows) {
  if (!trail.consent) return;
  const std::string& id = trail.consent->approval_id;
  const auto old = approvals_.state(id);
  if (old && *old && (*old)->word == "approved") {
    Approvals::Change voided = Approvals::change(id, **old, "invalidated");
    rows.drafts.back().facts.push_back(std::move(voided.fact));
    rows.expected.push_back(std::move(voided.expected));
  }
  trail.consent.reset();
}

// True: the call is refused for it, and goes on to its record.
Result<bool> Governor::question_refused(Trail& trail, const Error& error) {
  if (error.code == ErrorCode::Exhausted && !error.cause.empty()) {
    refuse_spending(trail, error);
    return true;
  }
  // A call that was resumed still waits for the answer it had.
  if (trail.closing_expected.empty()) {
    journal_.owe(trail, {.outcome = Outcome::persistence_failed(
                             "the approval question could not be recorded: " + error.message)});
  }
  return std::unexpected(error);
}

// From the program that answers for people, where there is one, and from people.
Task<bool> Governor::hear_answer(Trail& trail, Question question, const Caller& caller) {
  if (parts_.approver) {
    const Result<void> said = co_await ask_approver(question, trail.subject(), caller.cancel);
    if (!said && said.error().code == ErrorCode::Unavailable) {
      // An answer that is on no record is none, and nobody will give another.
      trail.refuse(
          {"the answer could not be recorded: " + said.error().message, Refusal::By::Person});
      co_return true;
    }
  }
  const Result<Reply> reply = co_await held_reply(trail, *from_rfc3339(question.expires_at), caller,
                                                  Approvals::Role::Owner);
  if (!reply) co_return std::unexpected(reply.error());
  take_reply(trail, *reply, question.call_digest);
  co_return true;
}

// A program that answers for people. What it says is an answer like any other, with its name; what
// it does not say in time, nobody has said.
Task<void> Governor::ask_approver(Question question, Subject subject, std::stop_token cancel) {
  const auto left = *from_rfc3339(question.expires_at) - parts_.clock.wall();
  Raced<Result<Reply>> raced = co_await race<Result<Reply>>(
      consult(parts_.approver, question), std::chrono::steady_clock::now() + left, cancel);
  if (raced.finish == Finish::Deadline || raced.finish == Finish::Cancelled) {
    co_return Result<void>{};
  }
  Reply given = Reply::deny("approver", "the approver failed");
  if (raced.value) {
    given = *raced.value ? std::move(**raced.value)
                         : Reply::deny("approver", raced.value->error().message);
  }
  co_return co_await approvals_.answer(question.approval_id, std::move(given), std::move(subject));
}

void Governor::take_reply(Trail& trail, const Reply& reply, const std::string& call_digest) {
  const bool was_prepared = trail.prepared().has_value();
  switch (reply.kind) {
    case Reply::Kind::Approved:
      trail.consent = Consent{.approval_id = trail.approval_id,
                              .call_digest = call_digest,
                              .by = reply.by,
                              .at = rfc3339(parts_.clock.wall())};
      if (const auto state = approvals_.state(trail.approval_id); state && *state) {
        trail.consent->sequence = (*state)->sequence;
        trail.consent->votes = (*state)->counted();
      }
      trail.decide_again(parts_.plans.current());
      check_consent(trail);
      return;
    case Reply::Kind::Denied:
      trail.refuse({reply.reason.empty() ? "rejected" : reply.reason, Refusal::By::Person});
      return;
    case Reply::Kind::Expired: {
      const auto over = was_prepared ? expired(*trail.prepared(), parts_.clock.wall())
                                     : std::optional<std::string>();
      trail.refuse({over.value_or("approval_expired"),
                    over ? Refusal::By::Preparation : Refusal::By::Person});
      return;
    }
    case Reply::Kind::Cancelled:
      trail.refuse({"cancelled", Refusal::By::Cancel});
  }
}

// Where people are registered, a yes counts as far as their keys say so: an entry in the ledger
// that somebody else wrote is none (AP-10).
void Governor::check_consent(Trail& trail) {
  const auto refuse = [&](const std::string& why) {
    trail.refuse({"approval_invalid: " + why, Refusal::By::Person});
  };
  const Result<json::object> entry = request_entry(parts_.recorder, trail.consent->approval_id);
  if (!entry) return refuse(entry.error().message);
  const json::object request = request_of(*entry);
  trail.consent->binding = std::string(text_in(request, "binding").value_or(""));
  // AP-31: never through the client of the one who asks.
  const bool strict = trail.needs_human || text_in(request, "kind") == "dual_control";
  for (const Vote& vote : trail.consent->votes) {
    if (strict && vote.door == kClientDoor) return refuse("a person has to answer elsewhere");
  }
  const auto& people = trail.plan().approvals().people;
  if (!people) return;
  const std::uint64_t required = number_in(request, "approvers_required").value_or(1);
  if (trail.consent->votes.size() < required) return refuse("too few people said yes");
  for (const Vote& vote : trail.consent->votes) {
    const ResponseStatement statement{.request_id = trail.consent->approval_id,
                                      .reviewer = vote.by,
                                      .binding = trail.consent->binding,
                                      .responded_at = vote.at,
                                      .approved = vote.approved};
    const Result<void> good = people->check(vote.by, statement.text(), vote.signature);
    if (!good) return refuse(good.error().message);
  }
}

Answer Governor::waiting(const Trail& trail) const {
  const std::string text = shown(describe(trail));
  Answer answer{.call_id = trail.call().call_id,
                .outcome = Outcome::requires_confirmation(text, trail.prepared()),
                .sequence = trail.asked_at.sequence,
                .record_id = trail.asked_at.id,
                .approval_id = trail.approval_id,
                .pending = pending_call(trail)};
  answer.result =
      not_run(trail, trail.autonomy == Autonomy::Suggest ? "proposed" : "pending_approval");
  answer.released = Envelope::of(answer.result.data);
  return answer;
}

// What was prepared and will not be executed is called off at the tool, once (AU-66).
void Governor::drop_preparation(Trail& trail, Upstream& upstream) {
  if (!trail.prepared() || upstream.preparing() == nullptr || trail.dropped) return;
  trail.dropped = true;
  // What it throws changes nothing: the call has ended.
  (void)shielded("cancel", [&] { upstream.preparing()->cancel(trail.prepared()->operation_id); });
}

}  // namespace sallyport::core
