// Questions to people that are not about a call. They share the queue of approvals and are answered
// in words (AP-25). Every method may be called from any thread.
#pragma once

#include <stop_token>
#include <string>

#include "base/async.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "core/approval/approvals.h"
#include "core/plan/plan.h"
#include "core/turn/dispatch.h"
#include "sallyport/human_question.h"

namespace sallyport::core {

class Questions {
 public:
  struct Parts {
    const PlanSource& plans;
    RecordLog& records;
    const Clock& clock;
    Entropy& entropy;
    Approvals& approvals;
  };
  explicit Questions(Parts parts) : parts_(parts) {}

  // Returns the id of the question after it is recorded.
  Task<std::string> ask(HumanQuestion question);
  // Waits for an answer, the deadline or a cancel. It records a deadline and a cancel.
  Task<HumanAnswer> wait(std::string request_id, std::stop_token cancel);
  // Returns the current state. `NotFound`: there is no such question, or it is about a call.
  Result<HumanAnswer> answer_to(const std::string& request_id);

  // Returns the recorded answer to the same question of the replayed dispatch. `NotFound` with the
  // cause `replay_missing_answer`: there is none.
  Result<HumanAnswer> recall(const HumanQuestion& question, ReplayCount& count);

 private:
  Question question_of(const HumanQuestion& asked, std::string id, const Plan& plan) const;
  Result<HumanAnswer> answer_in(const std::string& request_id, const ApprovalState& state);
  // If people are registered, only answers that they signed count.
  Result<void> check_people(const std::string& request_id, const ApprovalState& state);

  Parts parts_;
};

}  // namespace sallyport::core
