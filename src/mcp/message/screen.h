// The second door for messages that are not results of calls: lists, `initialize` responses,
// notifications, requests of a server. They pass the same result guards. Results of calls pass them
// in the Governor. There is no other way from a server to a client.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "core/plan/fail_open.h"
#include "core/plan/pipeline.h"
#include "core/plan/plan.h"
#include "core/record/instances.h"
#include "core/record/record_log.h"
#include "mcp/message/message.h"

namespace sallyport::mcp {

class Screen {
 public:
  // What guards did to a message and found in it, for the record. Must not wait.
  struct Seen {
    bool withheld = false;  // else it was changed, or:
    bool unchanged = false;
    std::string method{};
    std::string evidence{};  // of the guards, without the found text
    std::vector<Finding> findings{};
    std::vector<core::Escalation> escalations{};
  };
  using Report = std::function<void(Seen seen)>;

  // `limits` are those of a message that a guard has changed.
  Screen(const core::PlanSource& plans, core::RecordLog& records, const core::Instances& instances,
         const Clock& clock, JsonLimits limits, Report report)
      : plans_(plans),
        records_(records),
        clock_(clock),
        limits_(limits),
        report_(std::move(report)),
        fail_open_(instances) {}

  // Returns the message with its params, result or error as the guards released them, or the same
  // message if they changed nothing. `method` is the tool name that guards see. `Conflict`: a guard
  // withholds the message, and the error says why. `granted`: a call under a grant has not ended,
  // and the message may hold what the call returns. Guards then do not know the grant (PI-21).
  Task<Message> pass(std::string method, Message message, bool granted = false);

 private:
  const core::PlanSource& plans_;
  core::RecordLog& records_;
  const Clock& clock_;
  JsonLimits limits_;
  Report report_;
  core::FailOpenLog fail_open_;
};

}  // namespace sallyport::mcp
