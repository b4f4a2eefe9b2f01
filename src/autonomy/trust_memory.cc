#include "autonomy/trust_memory.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/uuid.h"
#include "core/call/call_record.h"
#include "core/handoff/interrupted_call.h"
#include "core/handoff/left_call.h"
#include "trust/tally.h"
#include "trust/trust_record.h"

namespace sallyport::autonomy {

namespace {

// The time as signed: the signature covers this text.
std::vector<trust::ApprovalSignature> signatures_of(const core::Remembered& ended) {
  std::vector<trust::ApprovalSignature> all;
  for (const core::SignedAnswer& answer : ended.answers) {
    all.push_back({answer.reviewer, answer.signed_at, answer.signature});
  }
  if (all.empty()) {
    all.push_back({ended.approver, ended.approved_at.substr(0, 19) + 'Z',
                   fmt::format("ledger:{}", ended.answer_sequence)});
  }
  return all;
}

trust::Outcome outcome_of(const core::Remembered& ended) {
  using enum core::Enforcement;
  const bool ran = ended.enforcement == Auto || ended.enforcement == ApprovalGranted;
  if (ran) return ended.succeeded ? trust::Outcome::Success : trust::Outcome::Failure;
  return ended.enforcement == ApprovalTimeout ? trust::Outcome::Timeout : trust::Outcome::Denied;
}

}  // namespace

core::Draft trust_memory(const core::Remembered& ended, WallTime now, const Clock& clock,
                         Entropy& entropy) {
  const Call& call = ended.call;
  trust::TrustRecord record{
      .record_id = uuid7_text(clock, entropy),
      .agent = call.agent_id,
      .action = ended.classification.effect_class,
      .outcome = outcome_of(ended),
      .trace_id = call.trace_id.empty() ? "trace-" + uuid7_text(clock, entropy) : call.trace_id,
      .autonomy_tier = ended.tier,
      .timestamp = trust::whole_seconds(now),
      .metadata = trust::to_metadata(
          {.enforcement = std::string(word_of(core::kEnforcements, ended.enforcement)),
           .builtin = call.tool,
           .action_class = ended.classification.effect_class,
           .call_id = call.call_id,
           .approval_request_id = ended.approval_id})};
  if (!ended.approver.empty()) {
    record.approver = ended.approver;
    record.metadata["approval"] = trust::approval_metadata(
        std::max<std::size_t>(ended.answers.size(), 1), signatures_of(ended));
  }
  core::Draft draft = trust::trust_draft(record);
  if (auto counted = trust::count_in(record)) draft.changes.push_back(std::move(counted));
  return draft;
}

std::function<std::vector<core::Draft>(const json::object& entry)> closing_interrupted(
    const Clock& clock, Entropy& entropy) {
  return [&clock, &entropy](const json::object& entry) {
    std::vector<core::Draft> drafts = core::close_interrupted(entry);
    if (text_or_empty(entry, "kind") == to_string(core::Kind::Event)) return drafts;
    const core::CallRecord record = core::CallRecord::from_entry(entry);
    // Without rules of autonomy the plan gave the tier.
    if (record.tier_source == core::kTierOfPlan) return drafts;
    using enum core::Enforcement;
    const bool announced = text_or_empty(entry, "kind") == to_string(core::Kind::Intent);
    const bool asked = !record.approval_id.empty();
    const Call call = core::call_of(record.subject);
    const Classification classification{record.tool_tier, record.effect_class};
    drafts.push_back(trust_memory({.call = call,
                                   .classification = classification,
                                   .tier = record.tier,
                                   .enforcement = !announced ? ApprovalInvalidated
                                                  : asked    ? ApprovalGranted
                                                             : Auto,
                                   .succeeded = false,
                                   .approval_id = record.approval_id},
                                  clock.wall(), clock, entropy));
    return drafts;
  };
}

std::function<std::vector<core::Draft>(const json::object& entry, core::ApprovalStatus)>
closing_left(const Clock& clock, Entropy& entropy) {
  return [&clock, &entropy](const json::object& entry, core::ApprovalStatus status) {
    std::vector<core::Draft> drafts = core::close_left(entry, status);
    const core::CallRecord record = core::CallRecord::from_entry(entry);
    const core::LeftEnd end = core::left_end(status);
    if (record.tier_source == core::kTierOfPlan || !end.enforcement) return drafts;
    const Call call = core::call_of(record.subject);
    const Classification classification{record.tool_tier, record.effect_class};
    drafts.push_back(trust_memory({.call = call,
                                   .classification = classification,
                                   .tier = record.tier,
                                   .enforcement = *end.enforcement,
                                   .approval_id = record.approval_id},
                                  clock.wall(), clock, entropy));
    return drafts;
  };
}

}  // namespace sallyport::autonomy
