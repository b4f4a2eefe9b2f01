#include "core/handoff/lost_calls.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/call/call_record.h"
#include "core/handoff/left_call.h"
#include "core/handoff/waiting_facts.h"
#include "core/plan/budgets.h"

namespace sallyport::core {

// A process that waited for an answer is gone, and its call with it (CG-55). A call that any
// process may resume keeps its reservation.
Task<void> LostCalls::reverse_lost_reservations() {
  SALLYPORT_CO_TRY(const std::vector<budgets::Reservation> all,
                   budgets::all_reservations(parts_.recorder));
  for (const budgets::Reservation& held : all) {
    if (parts_.recorder.alive(held.instance_id)) continue;
    SALLYPORT_CO_TRY(const auto waits, parts_.recorder.fact(kWaitingCall, held.fact.key));
    if (waits) continue;
    std::vector<Draft> drafts;
    drafts.push_back({.kind = Kind::Grant,
                      .subject = Subject{.call_id = held.fact.key},
                      .body = {{"record", "hold_reversed"},
                               {"instance_id", held.instance_id},
                               {"why", "the process that held it ended"}},
                      .changes = {budgets::reverse(held.fact.key)}});
    const auto written =
        co_await parts_.recorder.append(std::move(drafts), Urgency::Reports, {held.fact});
    // Another process that starts was quicker.
    if (!written && written.error().code == ErrorCode::Conflict) continue;
    if (!written) co_return std::unexpected(written.error());
  }
  co_return Result<void>{};
}

Task<void> LostCalls::close_lost_calls() {
  SALLYPORT_CO_TRY(const std::vector<Fact> all, parts_.recorder.facts(kHeldCall));
  for (const Fact& fact : all) {
    const std::optional<Placed> placed = split_place(fact.value.value_or(""));
    const std::size_t space = placed ? placed->value.find(' ') : std::string::npos;
    if (space == std::string::npos) continue;
    if (held(parts_.recorder, placed->value.substr(space + 1))) continue;
    SALLYPORT_CO_TRY(const auto state, approvals_.state(placed->value.substr(0, space)));
    if (state && (state->open() || state->status == ApprovalStatus::Approved)) continue;
    SALLYPORT_CO_CHECK_OK(co_await close_lost_call(fact, placed->sequence, state));
  }
  co_return Result<void>{};
}

Task<void> LostCalls::close_lost_call(Fact fact, std::uint64_t sequence,
                                      std::optional<Approvals::State> state) {
  SALLYPORT_CO_TRY(const json::object entry, parts_.recorder.entry(sequence));
  const LeftEnd lost = left_end(state ? std::optional(state->status) : std::nullopt);
  CallRecord record = CallRecord::from_entry(entry);
  record.facts.push_back({fact.space, fact.key, std::nullopt});
  record.changes.push_back(budgets::reverse(fact.key));
  Ending ending{.outcome = Outcome::blocked(std::string(lost.reason))};
  const std::shared_ptr<const Plan> plan = parts_.plans.current();
  if (const auto& rules = plan->autonomy_rules(); rules && lost.enforcement) {
    const Call call = call_of(record.subject);
    ending.memory = rules->remember({.call = call,
                                     .classification = plan->classify(call),
                                     .tier = record.tier,
                                     .enforcement = *lost.enforcement,
                                     .approval_id = record.approval_id},
                                    parts_.clock.wall());
  }
  std::vector<Closer::Left> left;
  left.push_back({.record = std::move(record), .ending = std::move(ending)});
  const auto closed = co_await closer_.close(std::move(left), {fact});
  // Another process that starts was quicker.
  if (!closed && closed.error().code == ErrorCode::Conflict) co_return Result<void>{};
  if (!closed) co_return std::unexpected(closed.error());
  co_return Result<void>{};
}

}  // namespace sallyport::core
