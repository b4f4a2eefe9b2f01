// The desk takes answers of people to questions. Commands and the HTTP API authenticate the person
// and translate; the desk builds the answer, has it checked and returns the result. Each of them
// applies `answer_limits.h` before an approval: only it knows whether the person named the call.
//
//   ApprovalDesk desk({approvals, records, clock});
//   co_await desk.answer("apr_1", {.kind = Reply::Kind::Approved, .by = "user:ada", .door = "cli:key"});
//
// `core::Approvals` below it takes the answers of all doors and checks them alike. Forms of MCP
// clients, reports of hosts and programs that embed the library answer there: docs/architecture.md,
// "Where answers come in", says why.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "core/approval/approval_state.h"
#include "core/approval/approvals.h"
#include "core/record/record_reader.h"
#include "sallyport/approval.h"

namespace sallyport::app {

// Signs the bytes of a `core::ResponseStatement` with the key of the person.
using Sign = std::function<std::string(std::string_view statement)>;

// The answer of an authenticated person.
struct PersonAnswer {
  Reply::Kind kind = Reply::Kind::Denied;  // `Cancelled` withdraws the question
  std::string by{};
  std::string door{};  // the way in which the person came
  std::string reason{};
  std::string answer{};                  // to a question that is not about a call
  std::optional<std::string> binding{};  // of what the person saw; no value: the current one
  std::string responded_at{};            // of `signature`; empty: now
  std::string signature{};               // empty: none, or `sign` makes it
  Sign sign{};
};

// All parts must outlive it. Used on the thread of `approvals`.
class ApprovalDesk {
 public:
  struct Parts {
    core::Approvals& approvals;
    core::RecordReader& records;
    const Clock& clock;
  };
  explicit ApprovalDesk(Parts parts) : parts_(parts) {}

  struct Recorded {
    core::ApprovalState state;  // after the answer; `Approved` if the call has run by now
    Reply reply;                // as it is recorded
  };
  // The errors are those of `core::Approvals::answer`.
  Task<Recorded> answer(std::string id, PersonAnswer given);
  // Lets `to` answer too.
  Task<void> escalate(std::string id, std::vector<std::string> to, PersonAnswer given);

 private:
  Parts parts_;
};

}  // namespace sallyport::app
