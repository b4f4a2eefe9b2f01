// Durable questions, most of them about calls, and their answers. The process that asks, the one
// that answers and the one that waits may differ; they share one ledger. Answers count in the order
// of the ledger: the first refusal denies, and enough people who say yes approve (AP-10).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/approval/approval_state.h"
#include "core/plan/approval_rules.h"
#include "core/record/log_watch.h"
#include "core/record/record_log.h"
#include "core/record/redactor.h"
#include "sallyport/approval.h"

namespace sallyport::core {

struct Closing;

class Approvals {
 public:
  using State = ApprovalState;

  // Returns who is registered now. Null: the owner of this object vouches for the people who
  // answer.
  using Rules = std::function<std::shared_ptr<const ApprovalRules>()>;
  // Names that people give themselves are also kept outside entries, so they are redacted here.
  Approvals(RecordLog& records, const Clock& clock, const Redactor& redactor, Rules rules = {})
      : records_(records),
        clock_(clock),
        redactor_(redactor),
        rules_(std::move(rules)),
        log_(records) {}

  // No value: there is no such question.
  Result<std::optional<State>> state(const std::string& approval_id) {
    return approval_state(records_, approval_id);
  }

  // Takes the reply of one person, whom the front has authenticated. `Conflict` with the state as
  // cause: the question is no longer pending. `Conflict` with the cause `binding_mismatch`: the
  // person saw something else. `Unauthenticated`: the reply does not count here; a reply with a
  // wrong signature is recorded as refused, and the question stays as it is. `expired` and
  // `cancelled` are replies too (AP-44).
  Task<void> answer(std::string approval_id, Reply reply);

  // Waits for a decision, `until` or a cancel; the last two are replies too, and are recorded. The
  // cancel of a guest ends only its own wait.
  enum class Role { Owner, Guest };
  Task<Reply> wait(std::string approval_id, WallTime until, std::stop_token cancel,
                   Role role = Role::Owner);
  // Removes answers that no registered person gave: another process accepted other people, or a
  // program wrote to the ledger. A decision that rests on such answers does not count, so the
  // question is pending again. Only the process whose call waits calls this, because its plan says
  // who is registered (AP-44).
  Task<void> disown_forged(std::string approval_id);
  // Waits until the log has grown, this process changes the question or the caller cancels, at most
  // half a second.
  Async<void> pause(std::string approval_id, std::stop_token cancel);
  void ring(const std::string& approval_id) { log_.ring(approval_id); }
  // Reports whether the log has grown. Other waits of this process for people use it.
  LogWatch& log() { return log_; }

  // Closes a question that has expired, and a yes that was not used in time. Turns sufficient
  // answers into a decision (AP-17, AP-19).
  Task<void> expire(std::string approval_id);
  // Does the same for all questions, for a process that starts (AP-20).
  Task<void> expire_all();

  // Lets further reviewers answer. The question and its deadline stay. `by` is the reviewer who
  // does this, as the front authenticated them, with a reason. The errors are those of `answer`,
  // and `Unauthenticated` if the target may never answer (AP-26).
  Task<void> escalate(std::string approval_id, std::vector<std::string> to, Reply by);

  // Applies the escalation of a rule whose time has come (RU-19).
  Task<void> pass_on(std::string approval_id);

  // Marks a yes as unusable, because the call is refused for another reason (AP-9).
  Task<void> invalidate(std::string approval_id, std::string reason);

  // Cancels the questions of a session; proposals stay. Returns the number of cancelled questions
  // (AP-18).
  Task<std::size_t> cancel_session(std::string session_id, std::string reason);

  // Returns what a state other than `pending` means for the call. `Conflict`: another call has used
  // it.
  Result<Reply> reply_of(const State& state);
  // Returns the decision, also if it has been used.
  Result<Reply> decided(const State& state);

  // The fact with the new status, and the stored fact that the commit expects. It is committed with
  // the intent.
  struct Change {
    Fact expected;
    Fact fact;
  };
  static Change change(const std::string& approval_id, const State& state, ApprovalStatus status);
  // The fact of a question whose preparation is lost with its process.
  static Fact invalidated(const std::string& approval_id, const std::string& call_id,
                          const std::string& call_digest);

 private:
  // `NotFound`: there is no such question. `Conflict`: it is no longer pending.
  Result<State> open_state(const std::string& approval_id);
  Task<void> respond(std::string approval_id, Reply reply);
  Vote vote_of(const Reply& reply) const;
  std::shared_ptr<const ApprovalRules> rules() const { return rules_ ? rules_() : nullptr; }
  // Writes nothing if the state is no longer `from`.
  Task<bool> close(std::string approval_id, ApprovalStatus from, Closing closing);
  Task<void> settle(std::string approval_id);

  RecordLog& records_;
  const Clock& clock_;
  const Redactor& redactor_;
  Rules rules_;
  LogWatch log_;
};

}  // namespace sallyport::core
