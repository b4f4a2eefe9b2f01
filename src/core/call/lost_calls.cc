// Calls whose process died while they waited for a person. The question stays, and may still be
// answered; once it cannot become a run any more, the call gets its end (AP-20, AP-21).
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/call/dispatch.h"
#include "core/call/governor.h"
#include "core/call/reopened_call.h"
#include "core/call/waiting_facts.h"

namespace sallyport::core {

namespace {

struct Words {
  std::string_view reason;
  std::string_view enforcement;
  std::string_view outcome;
};

Words words_for(std::string_view state) {
  if (state == "denied") return {"rejected", "approval_denied", "denied"};
  if (state == "expired") return {"approval_expired", "approval_timeout", "timeout"};
  if (state == "cancelled") return {"cancelled", "approval_cancelled", "denied"};
  // The same act ran under another call, which has a trust record of its own.
  if (state == "used") return {"approval_used", "", ""};
  return {"approval_invalidated", "approval_invalidated", "denied"};
}

}  // namespace

Fact held_call(const std::string& call_id, const std::string& approval_id,
               const std::string& holder) {
  return {std::string(kHeldCall), call_id, approval_id + " " + holder, true};
}

bool held(const Recorder& recorder, const std::string& holder) {
  return holder != kNobody && recorder.alive(holder);
}

Task<void> Governor::close_lost_calls() {
  SALLYPORT_CO_TRY(const std::vector<Fact> all, parts_.recorder.facts(kHeldCall));
  for (const Fact& fact : all) {
    const std::optional<Placed> placed = split_place(fact.value.value_or(""));
    const std::size_t space = placed ? placed->value.find(' ') : std::string::npos;
    if (space == std::string::npos) continue;
    if (held(parts_.recorder, placed->value.substr(space + 1))) continue;
    SALLYPORT_CO_TRY(const auto state, approvals_.state(placed->value.substr(0, space)));
    if (state && (state->open() || state->word == "approved")) continue;
    SALLYPORT_CO_CHECK_OK(co_await close_lost_call(fact, placed->sequence, state));
  }
  co_return Result<void>{};
}

Task<void> Governor::close_lost_call(Fact fact, std::uint64_t sequence,
                                     std::optional<Approvals::State> state) {
  SALLYPORT_CO_TRY(const json::object entry, parts_.recorder.entry(sequence));
  const Words words = words_for(state ? state->word : "");
  Draft draft = reopened(entry);
  add_ending(draft, {.outcome = Outcome::blocked(std::string(words.reason))});
  keep_end_of_dispatched(draft);
  draft.facts.push_back({fact.space, fact.key, std::nullopt});
  draft.changes.push_back(budgets::reverse(fact.key));
  const std::shared_ptr<const Plan> plan = parts_.plans.current();
  const Subject subject = draft.subject;
  const Call call = call_of(subject);
  std::vector<Draft> drafts;
  const std::string approval_id = text_or_empty(draft.body, "approval_id");
  drafts.push_back(std::move(draft));
  if (const auto& rules = plan->autonomy_rules(); rules && !words.outcome.empty()) {
    drafts.push_back(rules->remember({.call = call,
                                      .classification = plan->classify(call),
                                      .enforcement = std::string(words.enforcement),
                                      .outcome = std::string(words.outcome),
                                      .approval_id = approval_id},
                                     parts_.clock.wall()));
  }
  const auto written = co_await parts_.recorder.append(std::move(drafts), Urgency::Reports, {fact});
  // Another process that starts was quicker.
  if (!written && written.error().code == ErrorCode::Conflict) co_return Result<void>{};
  if (!written) co_return std::unexpected(written.error());
  std::vector<Draft> failed;
  co_await give_to_sinks(written->front().sequence, subject, failed);
  co_await note_failures(std::move(failed));
  co_return Result<void>{};
}

}  // namespace sallyport::core
