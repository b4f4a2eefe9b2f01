// The desk at which people answer questions. Commands and the HTTP API find out who a person is and
// translate; what an answer is made of, where it is checked and what is told of it is here.
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

namespace sallyport::people {

// Signs the bytes of a `core::ResponseStatement` with the key of the person.
using Sign = std::function<std::string(std::string_view statement)>;

// What a person says, who has proved who that is.
struct Said {
  Reply::Kind kind = Reply::Kind::Denied;  // `Cancelled` takes the question back
  std::string by{};
  std::string door{};  // the way in which the person came
  std::string reason{};
  std::string answer{};                  // to a question that is about no call
  std::optional<std::string> binding{};  // what the person saw; no value: what is asked now
  std::string responded_at{};            // of `signature`; empty: now
  std::string signature{};               // empty: none, or `sign` makes it
  Sign sign{};
};

// All parts must outlive it. On the thread of `approvals`.
class ApprovalDesk {
 public:
  struct Parts {
    core::Approvals& approvals;
    core::RecordReader& records;
    const Clock& clock;
  };
  explicit ApprovalDesk(Parts parts) : parts_(parts) {}

  struct Given {
    core::ApprovalState state;  // after the answer; `Approved` where the call has run by now
    Reply reply;                // as it is on record
  };
  // The errors are those of `core::Approvals::answer`.
  Task<Given> answer(std::string id, Said said);
  // Lets `to` answer too.
  Task<void> escalate(std::string id, std::vector<std::string> to, Said said);

 private:
  Parts parts_;
};

}  // namespace sallyport::people
