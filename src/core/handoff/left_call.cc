#include "core/handoff/left_call.h"

#include <boost/json.hpp>
#include <utility>

#include "core/call/call_record.h"
#include "core/plan/budgets.h"

namespace sallyport::core {

LeftEnd left_end(std::optional<ApprovalStatus> status) {
  using enum ApprovalStatus;
  switch (status.value_or(Invalidated)) {
    case Denied:
      return {"rejected", Enforcement::ApprovalDenied};
    case Expired:
      return {"approval_expired", Enforcement::ApprovalTimeout};
    case Cancelled:
      return {"cancelled", Enforcement::ApprovalCancelled};
    case Used:
      // The same act ran under another call, which has a trust record of its own.
      return {"approval_used"};
    case Pending:
    case Approved:
    case Invalidated:
      break;
  }
  return {"approval_invalidated", Enforcement::ApprovalInvalidated};
}

std::vector<Draft> close_left(const json::object& entry, ApprovalStatus status) {
  CallRecord record = CallRecord::from_entry(entry);
  record.changes.push_back(budgets::reverse(record.subject->call_id));
  const Ending ending{.outcome = Outcome::blocked(std::string(left_end(status).reason))};
  Batch batch;
  add_end(std::move(record), ending, batch);
  return std::move(batch).take();
}

}  // namespace sallyport::core
