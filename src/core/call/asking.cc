#include "core/call/asking.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/json_members.h"
#include "base/race.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/approval/approval_drafts.h"
#include "core/approval/approval_request.h"
#include "core/approval/bound_input.h"
#include "core/approval/doors.h"
#include "core/approval/hidden_parts.h"
#include "core/approval/live_questions.h"
#include "core/approval/open_questions.h"
#include "core/approval/vote_check.h"
#include "core/call/call_json.h"
#include "core/call/first_door.h"
#include "core/call/preparing.h"
#include "core/handoff/pending_call.h"
#include "core/handoff/waiting_facts.h"
#include "core/result/not_run.h"
#include "core/turn/dispatch.h"

namespace sallyport::core {

namespace {

// How often a call asks again because an identical call asked at the same moment.
constexpr unsigned kMostAskings = 8;

// A separate coroutine keeps the approver alive after the call stops waiting for it.
Async<Result<Reply>> consult(std::shared_ptr<const Approver> approver, Question question) {
  co_return co_await approver->answer(std::move(question));
}

// Names, and for `role:ROLE` the people who have the role now. A person who gets it later was not
// asked.
std::vector<std::string> people_of(const ApprovalRules& rules, const std::vector<std::string>& to) {
  constexpr std::string_view kRole = "role:";
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const std::string& reviewer : to) {
    if (!reviewer.starts_with(kRole)) {
      add(reviewer);
    } else if (rules.people) {
      std::ranges::for_each(rules.people->with_role(reviewer.substr(kRole.size())), add);
    }
  }
  return names;
}

// How long an approval is valid, and who may answer if no reviewer does (RU-18, RU-19).
QuestionTerms terms_of(const Trail& trail, WallTime now) {
  QuestionTerms terms{.use_within = trail.use_within()};
  if (!trail.rules) return terms;
  for (const RulePassOn& pass_on : trail.rules->pass_on) {
    std::vector<std::string> to = people_of(trail.plan().approvals(), pass_on.to);
    if (to.empty()) continue;  // no person has this role
    terms.later.push_back({.at = now + pass_on.after, .rule = pass_on.rule, .to = std::move(to)});
  }
  return terms;
}

QuestionKind kind_of_question(const Decision& decision) {
  return decision.needs_two() ? QuestionKind::DualControl : QuestionKind::Approval;
}

std::string display_name(const Decision& decision) {
  const std::string& name = decision.classification().display_name;
  return name.empty() ? decision.call().tool : name;
}

// A person sees every digit: a number that a double cannot hold is shown as text.
json::value shown_input(const Call& call) {
  if (!call.raw_input) return call.input;
  Result<ParsedJson> exact = parse_json(*call.raw_input, {.numbers = Numbers::Exact});
  return exact ? std::move(exact->value) : call.input;
}

}  // namespace

std::string describe(const Decision& decision) {
  if (decision.question && !decision.question->empty()) return *decision.question;
  if (decision.rules && !decision.rules->text.empty()) return decision.rules->text;
  return fmt::format("Confirm {}?", display_name(decision));
}

// Named after the event that started the call, if there is one (AP-23).
Result<std::string> Asking::fresh_approval_id(const Trail& trail) {
  const std::string& trigger_id = trail.call().trigger_id;
  if (trigger_id.empty()) return "apr_" + uuid7_text(parts_.clock, parts_.entropy);
  return fresh_question_id(parts_.recorder, to_string(kind_of_question(trail)), trigger_id);
}

std::string Asking::url_of(const std::string& approval_id) const {
  return parts_.approvals_url.empty() ? std::string() : parts_.approvals_url + approval_id;
}

Question Asking::question_about(const Decision& decision, std::string id) const {
  const Call& call = decision.call();
  const WallTime now = parts_.clock.wall();
  WallTime until = now + decision.approval_time();
  if (call.time_limit) until = std::min(until, now + *call.time_limit);
  if (decision.prepared() && decision.prepared()->expires_at) {
    until = std::min(until, from_rfc3339(*decision.prepared()->expires_at).value_or(until));
  }
  Question question{.approval_id = std::move(id),
                    .call_id = call.call_id,
                    .tool_call_id = call.tool_call_id,
                    .session_id = call.session_id,
                    .agent_id = call.agent_id,
                    .server = call.server,
                    .tool = call.tool,
                    .description = describe(decision),
                    .input = shown_input(call),
                    .call_digest = decision.call_digest(),
                    .policy_hash = decision.plan().hash(),
                    .prepared = decision.prepared(),
                    .expires_at = rfc3339(until),
                    .kind = kind_of_question(decision),
                    .trace_id = call.trace_id,
                    .action = decision.classification().effect_class,
                    .tool_definition = decision.tool_definition(),
                    .nonce = fresh_nonce(parts_.entropy),
                    .reviewers = decision.reviewers(),
                    .approvers_required = decision.quorum(),
                    .requested_at = rfc3339(now),
                    .proposal = decision.autonomy == Autonomy::Suggest,
                    .needs_human = decision.needs_human,
                    .folder = call.setting.folder,
                    .on_behalf_of = call.setting.user};
  if (decision.rules) {
    const RuleAnswer& rules = *decision.rules;
    question.rules = {{"rule", rules.rule.empty() ? json::value() : json::value(rules.rule)},
                      {"place", rules.place.empty() ? json::value() : json::value(rules.place)},
                      {"message", shown(rules.message)}};
    for (const char* const name : {"effects", "opaque"}) {
      const json::value* const part = rules.record.if_contains(name);
      question.rules[name] = part ? *part : json::value(json::array());
    }
    question.reason_required = rules.reason_required;
  }
  question.binding = binding_of(question, decision.exact_text());
  return question;
}

// The question is on record before a person is asked. False: the caller does not wait for it.
Task<bool> Asking::ask(Trail& trail, const Caller& caller) {
  const bool held = caller.holds && trail.autonomy != Autonomy::Suggest;
  const bool resumed = !trail.closing_expected.empty();
  const bool may_attach = held && !resumed && !trail.prepared() && !trail.consent;
  const bool may_clash = !resumed && (held || !trail.call().trigger_id.empty());
  for (unsigned tries = 1;; ++tries) {
    SALLYPORT_CO_TRY(const SameQuestion same, same_question(trail));
    if (may_attach && !same.approval_id.empty()) {
      co_return co_await attach(trail, caller, same.approval_id);
    }
    SALLYPORT_CO_TRY(std::string id, fresh_approval_id(trail));
    const NewQuestion asking{
        .question = question_about(trail, std::move(id)),
        .like_it = same.expected,
        .held = held,
        .holder = caller.leaves ? std::string(kNobody) : parts_.recorder.instance_id(),
        .only_here = trail.prepared() && trail.recovery_class() != RecoveryClass::Resumable};
    const Result<void> opened = co_await open(trail, asking);
    if (opened) co_return co_await ask_people(trail, asking, caller);
    const bool asked_meanwhile = may_clash && opened.error().code == ErrorCode::Conflict;
    if (!asked_meanwhile || tries == kMostAskings) {
      co_return question_refused(trail, opened.error());
    }
  }
}

// Writes the question. The trail changes only if that succeeds.
Task<void> Asking::open(Trail& trail, const NewQuestion& asking) {
  // A commit that fails may be on record all the same.
  trail.may_be_asked = true;
  // The entries name the question.
  std::string before = std::exchange(trail.approval_id, asking.question.approval_id);
  Rows rows = rows_of(trail, asking);
  const Batch::Handle record = rows.record;
  const auto written = co_await journal_.commit(trail, std::move(rows.batch), Urgency::Announces,
                                                std::move(rows.expected));
  if (!written) {
    trail.approval_id = std::move(before);
    co_return std::unexpected(written.error());
  }
  trail.asked_at = (*written)[record];
  trail.opened = trail.opened || asking.only_here;
  trail.consent.reset();
  co_return Result<void>{};
}

// The question is on record. False: the caller does not wait for the answer.
Task<bool> Asking::ask_people(Trail& trail, const NewQuestion& asking, const Caller& caller) {
  co_await sinks_.notify_sinks(trail, trail.asked_at.sequence);
  const bool answered = co_await ask_policy_approver(trail, asking.question, caller.cancel);
  if (!asking.held) co_return false;
  if (!asking.only_here && !trail.held) trail.hold_here();
  if (caller.leaves && !answered) co_return false;
  co_return co_await wait_for_answer(trail, asking.question, caller);
}

// The record that a person is needed, the facts that keep the call, and the question itself.
Asking::Rows Asking::rows_of(Trail& trail, const NewQuestion& asking) {
  const Question& question = asking.question;
  const std::string& call_id = trail.call().call_id;
  Ending asked{.outcome = Outcome::requires_confirmation(question.description, trail.prepared()),
               .terminal = false};
  Rows rows{.expected = trail.closing_expected};
  const bool proposed = trail.autonomy == Autonomy::Suggest;
  if (proposed) add_proposal(trail, rows.batch);
  rows.record = journal_.record(trail, asked, rows.batch).record;
  Draft& record = rows.batch[rows.record];
  if (asking.only_here) {
    record.facts.push_back({std::string(kOpenCall), call_id, parts_.recorder.instance_id(), true});
  }
  if (proposed) record.facts.push_back(proposed_call(trail));
  if (!asking.held) {
    record.facts.push_back({std::string(kWaitingCall), call_id, question.approval_id});
    // The call was held for its last question. Its caller no longer waits.
    if (trail.held) record.facts.push_back({std::string(kHeldCall), call_id, std::nullopt});
  } else if (!asking.only_here) {
    record.facts.push_back(held_call(call_id, question.approval_id, asking.holder));
  }
  record.facts.push_back({asking.like_it.space, asking.like_it.key, question.approval_id});
  if (asking.held) rows.expected.push_back(asking.like_it);
  if (!trail.call().trigger_id.empty()) {
    rows.expected.push_back({std::string(kRequestSpace), question.approval_id});
  }
  if (trail.grant) {
    record.changes.push_back(budgets::reserve(
        trail.grant->spending, {call_id, parts_.recorder.instance_id()}, parts_.clock.wall()));
  }
  void_consent(trail, rows);
  const std::vector<HiddenPart> hidden =
      hidden_parts(parts_.redactor, question.input, trail.classification());
  if (!hidden.empty()) {
    record.facts.push_back(kept_input(parts_.recorder, question.approval_id,
                                      bound_text(question, trail.exact_text())));
  }
  std::vector<Draft> opening =
      question_drafts(question, terms_of(trail, parts_.clock.wall()), trail.subject(), hidden);
  live_questions::begin(parts_.recorder, opening.back().facts);
  opening.back().changes.push_back(open_questions::add({.agent_id = question.agent_id,
                                                        .approval_id = question.approval_id,
                                                        .most = trail.plan().approvals().most_open},
                                                       parts_.clock.wall()));
  rows.batch.add(std::move(opening));
  return rows;
}

// The entries for followers of the outbox and for the trust graph.
void Asking::add_proposal(const Trail& trail, Batch& batch) const {
  batch.add(proposal_of(trail));
  const auto& rules = trail.plan().autonomy_rules();
  if (!rules) return;
  batch.add(rules->remember({.call = trail.call(),
                             .classification = trail.classification(),
                             .tier = trail.autonomy,
                             .enforcement = Enforcement::SuggestApprovalRequest,
                             .approval_id = trail.approval_id},
                            parts_.clock.wall()));
}

Fact Asking::proposed_call(const Trail& trail) const {
  // Includes the token, which is checked again when the call runs (CG-23).
  json::object call = to_json(trail.call_with_grants());
  if (trail.prepared()) {
    call["input"] = trail.requested_input();
    call["prepared"] = to_json(*trail.prepared());
  }
  return {std::string(kProposedCall), trail.approval_id,
          parts_.recorder.encrypt(canonical_json(call))};
}

// Invalidates an approval that was given for another call, on record (AP-4, EV-75).
void Asking::void_consent(const Trail& trail, Rows& rows) const {
  if (!trail.consent) return;
  const std::string& id = trail.consent->approval_id;
  const auto old = approvals_.state(id);
  if (!old || !*old || (*old)->status != ApprovalStatus::Approved) return;
  rows.expected.push_back((*old)->expected(id));
  const Result<json::object> request = stored_request(parts_.recorder, id);
  const Closing voided{
      .status = ApprovalStatus::Invalidated,
      .reason = "the call or the policy has changed; asked again as " + trail.approval_id,
      .door = "policy"};
  ApprovalState state = **old;
  rows.batch.add(
      decision_drafts(id, state, voided, request.value_or(json::object()), parts_.clock.wall()));
}

// True: the call is refused for this error and continues to its record.
Result<bool> Asking::question_refused(Trail& trail, const Error& error) {
  if (error.code == ErrorCode::Exhausted && error.cause == open_questions::kTooMany) {
    trail.refuse({error.message});
    return true;
  }
  if (error.code == ErrorCode::Exhausted && !error.cause.empty()) {
    trail.refuse_spending(error);
    return true;
  }
  // A call that was resumed still waits for the answer it had.
  if (trail.closing_expected.empty()) {
    journal_.owe(trail, {.outcome = Outcome::persistence_failed(
                             "the approval question could not be recorded: " + error.message)});
  }
  return std::unexpected(error);
}

// Asks the program that answers for people, if there is one, and people.
Task<bool> Asking::wait_for_answer(Trail& trail, Question question, const Caller& caller) {
  if (parts_.approver) {
    const Result<void> recorded = co_await ask_program_approver(question, caller.cancel);
    if (!recorded && recorded.error().code == ErrorCode::Unavailable) {
      // An answer without a record does not count, and no other answer will come.
      trail.refuse(
          {"the answer could not be recorded: " + recorded.error().message, Refusal::By::Person});
      co_return true;
    }
  }
  const Result<Reply> reply = co_await held_reply(trail, *from_rfc3339(question.expires_at), caller,
                                                  Approvals::Role::Owner);
  if (!reply) co_return std::unexpected(reply.error());
  take_reply(trail, *reply, question.call_digest);
  co_return true;
}

// Asks a program that answers for people. Its answer counts like any other, under its name. An
// answer that comes too late does not count.
Task<void> Asking::ask_program_approver(Question question, std::stop_token cancel) {
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
  co_return co_await approvals_.answer(question.approval_id, std::move(given));
}

// Not for calls that need a human or two people (RU-67).
Async<bool> Asking::ask_policy_approver(const Trail& trail, Question question,
                                        std::stop_token cancel) {
  const std::shared_ptr<const Approver>& approver = trail.plan().listeners().approver;
  if (!approver || trail.needs_human || question.kind != QuestionKind::Approval) co_return false;
  const auto left = *from_rfc3339(question.expires_at) - parts_.clock.wall();
  Raced<Result<Reply>> raced = co_await race<Result<Reply>>(
      consult(approver, question), std::chrono::steady_clock::now() + left, std::move(cancel));
  if (!raced.value || !*raced.value) co_return false;
  const Result<void> recorded =
      co_await approvals_.answer(question.approval_id, std::move(**raced.value));
  if (!recorded && parts_.log)
    parts_.log("the answer of the external approver does not count: " + recorded.error().message);
  co_return recorded.has_value();
}

void Asking::take_reply(Trail& trail, const Reply& reply, const std::string& call_digest) {
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
                    over ? Refusal::By::Preparation : Refusal::By::Expiry});
      return;
    }
    case Reply::Kind::Cancelled:
      trail.refuse({"cancelled", Refusal::By::Cancel});
  }
}

// Where people are registered, a yes counts only under their keys. An entry of the ledger without a
// valid signature is no yes (AP-10).
void Asking::check_consent(Trail& trail) {
  const auto refuse = [&](const std::string& why) {
    trail.refuse({"approval_invalid: " + why, Refusal::By::Person});
  };
  const Result<json::object> entry = request_entry(parts_.recorder, trail.consent->approval_id);
  if (!entry) return refuse(entry.error().message);
  const json::object request = request_of(*entry);
  const json::object* const body = object_in(*entry, "body");
  // A call that is resumed was not decided in this process, so the question says it.
  const bool human = body != nullptr && bool_in(*body, "needs_human").value_or(false);
  trail.consent->binding = text_or_empty(request, "binding");
  // Never through the client, the terminal or the host of the requester, or an external approver
  // (AP-31, AP-33).
  const bool strict = human || trail.needs_human || kind_of(request) == QuestionKind::DualControl;
  for (const Vote& vote : trail.consent->votes) {
    const bool in_hands_of_agent = vote.door == kClientDoor || vote.door == kAgentTerminalDoor ||
                                   vote.door == kHostDoor || vote.door.starts_with(kExternalDoor);
    if (strict && in_hands_of_agent) return refuse("a person has to answer elsewhere");
  }
  const ApprovalRules& rules = trail.plan().approvals();
  if (!rules.people) return;
  std::set<std::string> credentials;
  const std::uint64_t required = number_in(request, "approvers_required").value_or(1);
  if (trail.consent->votes.size() < required) return refuse("too few people said yes");
  for (const Vote& vote : trail.consent->votes) {
    // A yes at a host has no signature. The front that saw the call run has already checked that it
    // may count (AP-33).
    const bool at_host = vote.door == kHostDoor;
    if (at_host && !trail.observed) return refuse("the yes was given to a host, for another call");
    const Result<void> good = at_host
                                  ? Result<void>{}
                                  : check_vote(rules, parts_.recorder, trail.consent->approval_id,
                                               vote, trail.consent->binding);
    if (!good) return refuse(good.error().message);
    // One person under two names is one person (AP-14).
    const std::string credential = rules.people->credential(vote.by);
    credentials.insert(credential.empty() ? "name:" + vote.by : credential);
  }
  if (credentials.size() < required) return refuse("too few people said yes");
}

Answer Asking::waiting(const Trail& trail) const {
  const std::string text = shown(describe(trail));
  Answer answer{.call_id = trail.call().call_id,
                .outcome = Outcome::requires_confirmation(text, trail.prepared()),
                .sequence = trail.asked_at.sequence,
                .record_id = trail.asked_at.id,
                .approval_id = trail.approval_id,
                .pending = pending_call(trail)};
  if (trail.rules) {
    answer.rule = trail.rules->rule;
    answer.message = shown(trail.rules->message);
  }
  answer.result = not_run(
      trail, trail.autonomy == Autonomy::Suggest ? NotRun::Proposed : NotRun::PendingApproval,
      url_of(trail.approval_id));
  answer.released = Envelope::of(answer.result.data);
  return answer;
}

}  // namespace sallyport::core
