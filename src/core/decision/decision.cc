#include "core/decision/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/exact_numbers.h"
#include "base/json_writer.h"
#include "core/record/finding.h"
#include "core/record/shapes.h"

namespace sallyport::core {

namespace {

std::string text_of(const json::value& input) {
  constexpr std::size_t kCommonText = 128;
  std::string text;
  text.reserve(kCommonText);
  append_exact_json(text, input);
  return text;
}

// Keeps two inputs apart that a double would make equal.
void put_input(CanonicalWriter& out, const Call& call, const std::string& text) {
  if (!call.raw_input) return out.put_text("input", text);
  out.object("input", [&] { out.put("raw", *call.raw_input); });
}

std::string request_of(const Call& call, const std::string& input) {
  CanonicalWriter out;
  out.object([&] {
    put_input(out, call, input);
    out.put("principal", call.agent_id);
    out.put("server", call.server);
    out.put("tool", call.tool);
  });
  return std::move(out).take();
}

}  // namespace

Decision::Decision(Call&& call, std::shared_ptr<const Plan> plan, const KeyedDigest& digest,
                   FailOpenLog& fail_open)
    : autonomy(plan->autonomy()),
      fail_open(fail_open),
      grants_(std::exchange(call.grants, {})),
      call_(std::move(call)),
      plan_(std::move(plan)),
      digest_(digest),
      classification_(plan_->classify(call_)),
      requested_raw_(call_.raw_input),
      requested_text_(text_of(call_.input)),
      request_digest_(digest_(request_of(call_, requested_text_))),
      subject_(Subject{.policy_hash = plan_->hash(),
                       .call_id = call_.call_id,
                       .session_id = call_.session_id,
                       .agent_id = call_.agent_id,
                       .server = call_.server,
                       .tool_name = call_.tool,
                       .trace_id = call_.trace_id,
                       .run_id = call_.run_id}),
      input_text_(requested_text_) {
  constexpr std::size_t kCommonRows = 8;
  rows.reserve(kCommonRows);
}

Call Decision::call_with_grants() const {
  Call call = call_;
  call.grants = grants_;
  return call;
}

std::shared_ptr<const Call> Decision::shared_call() const {
  if (!shared_call_) shared_call_ = std::make_shared<const Call>(call_);
  return shared_call_;
}

void Decision::input_changed() {
  input_text_.clear();
  call_digest_.clear();
  shared_call_.reset();
}

// A later pass may see another input, and so another tool (RU-27).
void Decision::judged(RuleAnswer answer) {
  classification_ = plan_->classify(call_);
  if (cautious_) {
    raise_caution();
  } else if (answer.classification) {
    answer.classification->display_name = classification_.display_name;
    classification_ = *answer.classification;
  }
  rules = std::move(answer);
}

std::shared_ptr<const CallSurroundings> Decision::surroundings() const {
  CallSurroundings around{
      .upstream = upstream, .workspace = workspace, .policy_hash = plan_->hash()};
  const json::value* const matches = rules ? rules->record.if_contains("matches") : nullptr;
  if (matches && matches->is_array()) around.rules = matches->get_array();
  return std::make_shared<const CallSurroundings>(std::move(around));
}

bool Consent::covers(const Decision& decision) const {
  return call_digest == decision.call_digest();
}

bool Decision::is_tiered() const {
  if (classification_.tier == Tier::Observe) return false;
  return !rules || !rules->all_free || cautious_;
}

bool Decision::needs_two() const {
  return plan_->approvals().needs_two(call_.tool, classification_) ||
         (rules && rules->dual_control);
}

std::vector<std::string> Decision::reviewers() const {
  std::vector<std::string> named = plan_->approvals().reviewers;
  const auto narrow = [&](const std::vector<std::string>& list) {
    if (list.empty()) return;
    if (named.empty()) {
      named = list;
      return;
    }
    std::erase_if(named, [&](const std::string& name) {
      return std::ranges::find(list, name) == list.end();
    });
  };
  if (rules) narrow(rules->reviewers);
  if (named.empty() && rules && !rules->reviewers.empty()) return named;
  if (scopes) narrow(scopes->reviewers);
  return named;
}

std::uint64_t Decision::quorum() const {
  const std::uint64_t asked = rules ? rules->quorum : 1;
  const std::uint64_t scoped = scopes ? scopes->quorum : 1;
  const std::uint64_t two = needs_two() ? 2 : 1;
  return std::max({plan_->approvals().quorum, asked, scoped, two});
}

std::chrono::seconds Decision::approval_time() const {
  std::chrono::seconds time = plan_->approval_time();
  if (rules && rules->deadline) time = std::min(time, *rules->deadline);
  if (scopes && scopes->deadline) time = std::min(time, *scopes->deadline);
  return time;
}

std::chrono::seconds Decision::use_within() const {
  std::chrono::seconds time = plan_->approvals().use_within;
  if (rules && rules->use_within) time = std::min(time, *rules->use_within);
  if (scopes && scopes->use_within) time = std::min(time, *scopes->use_within);
  return time;
}

std::optional<std::string> Decision::no_reviewers() const {
  if (rules && rules->no_reviewer_left) {
    return "the call needs approval, and its rules name reviewers that exclude each other";
  }
  const bool by_rules = rules && !rules->reviewers.empty();
  const bool by_scopes = scopes && !scopes->reviewers.empty();
  if (!by_rules && !by_scopes) return std::nullopt;
  const std::string_view source = by_scopes ? "scopes" : "rules";
  const std::size_t left = reviewers().size();
  if (left == 0) {
    return fmt::format(
        "the call needs approval, and no reviewer that its {} name is a reviewer of the policy",
        source);
  }
  if (left >= quorum()) return std::nullopt;
  return fmt::format("the call needs {} approvals, and its {} leave {} reviewer{}", quorum(),
                     source, left, left == 1 ? "" : "s");
}

void Decision::raise_caution() {
  cautious_ = true;
  if (classification_.tier == Tier::Observe) classification_.source = "hint";
  classification_.tier = Tier::Confirm;
  if (classification_.effect_class == "none") classification_.effect_class = "unknown";
}

void Decision::tool_definition(std::string digest) {
  tool_definition_ = std::move(digest);
  call_digest_.clear();
}

const std::string& Decision::call_digest() const {
  if (call_digest_.empty()) {
    CanonicalWriter bound;
    bound.object([&] {
      // The same input in another folder is another call.
      if (!call_.setting.folder.empty()) bound.put("folder", call_.setting.folder);
      put_input(bound, call_, input_text());
      bound.put("policy_hash", plan_->hash());
      bound.put("principal", call_.agent_id);
      bound.put("tool", call_.tool);
      if (tool_definition_.empty()) {
        bound.put("tool_definition", nullptr);
      } else {
        bound.put("tool_definition", tool_definition_);
      }
    });
    call_digest_ = digest_(std::move(bound).take());
  }
  return call_digest_;
}

const std::string& Decision::guards_text() const {
  if (!guards_text_.empty()) return guards_text_;
  CanonicalWriter out;
  out.array([&] {
    for (const GuardRun& run : guard_runs_) out.object([&] { write_members(out, run); });
  });
  guards_text_ = std::move(out).take();
  return guards_text_;
}

std::vector<GuardRun>& Decision::change_guard_runs() {
  guards_text_.clear();
  return guard_runs_;
}

const std::string& Decision::input_text() const {
  if (input_text_.empty()) input_text_ = text_of(call_.input);
  return input_text_;
}

bool Decision::is_shadow() const {
  return refusal_ && refusal_->by == Refusal::By::Autonomy && autonomy == Autonomy::Shadow;
}

void Decision::refuse(Refusal refusal) {
  if (!refusal_) refusal_ = std::move(refusal);
}

void Decision::replace_input(json::value input, std::optional<std::string> raw) {
  if (!requested_) requested_ = std::move(call_.input);
  call_.input = std::move(input);
  call_.raw_input = std::move(raw);  // the received bytes are of the old input
  input_changed();
}

void Decision::prepared(Prepared prepared, bool outlives_process) {
  replace_input(effective_input(requested_input(), prepared));
  prepared_ = std::move(prepared);
  outlives_process_ = outlives_process;
}

void Decision::decide_again(std::shared_ptr<const Plan> plan) {
  plan_ = std::move(plan);
  subject_.set(&Subject::policy_hash, plan_->hash());
  classification_ = plan_->classify(call_);
  autonomy = plan_->autonomy();
  autonomy_source = kTierOfPlan;
  if (!prepared_) {
    if (requested_) call_.input = *std::exchange(requested_, std::nullopt);
    call_.raw_input = requested_raw_;
  }
  input_changed();
  refusal_.reset();
  change_guard_runs().clear();
  escalations.clear();
  grant.reset();
  question.reset();
  rules.reset();
  cautious_ = false;
  needs_person = false;
}

RecoveryClass Decision::recovery_class() const {
  if (classification_.replay_safe()) return RecoveryClass::ReplaySafe;
  return outlives_process_ ? RecoveryClass::Resumable : RecoveryClass::SideEffecting;
}

void Decision::note(std::vector<Finding> findings) {
  for (Finding& finding : findings) rows.push_back(finding_row(std::move(finding), subject_));
}

void Decision::forget_content() {
  constexpr const char* kTooLarge = "[too large to be recorded]";
  requested_.reset();
  call_.input = kTooLarge;
  requested_text_ = text_of(call_.input);
  call_.raw_input.reset();
  input_text_ = requested_text_;  // the digest stays that of the requested input
  shared_call_.reset();
  change_guard_runs().clear();
}

void Decision::forget_evidence() {
  if (rules) rules->record.erase("effects");
  for (GuardRun& run : change_guard_runs()) run.evidence = nullptr;
}

void Decision::refuse_spending(const Error& error) {
  for (GuardRun& run : change_guard_runs()) {
    if (run.stage != to_string(Stage::Grant) || run.verdict != GuardVerdict::Allow) continue;
    run.verdict = GuardVerdict::Deny;
    run.rule = error.cause;
    if (json::object* const evidence = run.evidence.if_object()) {
      (*evidence)["check"] = "budget";
      (*evidence)["code"] = error.cause;
    }
  }
  refuse({error.cause});
}

}  // namespace sallyport::core
