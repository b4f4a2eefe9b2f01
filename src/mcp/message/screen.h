// The second door for messages that are not results of calls: lists, `initialize` responses,
// notifications, requests of a server. They pass the same result guards. Results of calls pass them
// in the Governor. There is no other way from a server to a client.
#pragma once

#include <functional>
#include <string>

#include "base/async.h"
#include "base/clock.h"
#include "core/plan/fail_open.h"
#include "core/plan/plan.h"
#include "core/record/instances.h"
#include "core/record/record_log.h"
#include "mcp/message/message.h"

namespace sallyport::mcp {

class Screen {
 public:
  // What a guard did to a message, for the record. Must not wait.
  struct Seen {
    bool withheld = false;  // else it was changed
    std::string method{};
    std::string evidence{};  // what the guards found, without what it was
  };
  using Tell = std::function<void(const Seen& seen)>;

  // `limits` are those of a message that a guard has changed.
  Screen(const core::PlanSource& plans, core::RecordLog& records, const core::Instances& instances,
         const Clock& clock, JsonLimits limits, Tell tell)
      : plans_(plans),
        records_(records),
        clock_(clock),
        limits_(limits),
        tell_(std::move(tell)),
        fail_open_(instances) {}

  // The message with its params, result or error as the guards released them; the message that came
  // where they changed nothing. `what` is how guards know it: the name of a method.
  // `Conflict`: a guard withholds the message, and the error says why.
  Task<Message> pass(std::string what, Message message);

 private:
  const core::PlanSource& plans_;
  core::RecordLog& records_;
  const Clock& clock_;
  JsonLimits limits_;
  Tell tell_;
  core::FailOpenLog fail_open_;
};

}  // namespace sallyport::mcp
