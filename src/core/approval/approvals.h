// Durable questions, most of them about calls, and their answers. The process that asks, the one
// that answers and the one that waits may differ; they share one ledger. Answers count in the order
// of the ledger: the first refusal denies, and enough people who say yes approve (AP-10).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bell.h"
#include "base/clock.h"
#include "core/approval/approval_state.h"
#include "core/plan/approval_rules.h"
#include "core/record/recorder.h"
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
  // What people call themselves is kept outside entries too, so it is redacted here.
  Approvals(Recorder& recorder, const Clock& clock, const Redactor& redactor, Rules rules = {})
      : recorder_(recorder), clock_(clock), redactor_(redactor), rules_(std::move(rules)) {}

  // Nothing: there is no such question.
  Result<std::optional<State>> state(const std::string& approval_id) {
    return approval_state(recorder_, approval_id);
  }

  // What one person says; who he is was found out by the door. `Conflict` with the state as cause
  // when it is no longer pending, with the cause `binding_mismatch` when he saw something else;
  // `Unauthenticated`: his answer does not count here; one that is not his by its signature is on
  // record as refused, and the question stays as it is (AP-44). `expired` and `cancelled` are
  // answers too.
  Task<void> answer(std::string approval_id, Reply reply);

  // Until it is decided, `until` or a cancel; those two are answers too, and are recorded. The
  // cancel of a guest ends his own waiting only.
  enum class Role { Owner, Guest };
  Task<Reply> wait(std::string approval_id, WallTime until, std::stop_token cancel,
                   Role role = Role::Owner);
  // Removes answers that no registered person gave: another process accepted other people, or a
  // program wrote to the ledger. A decision that rests on such answers does not count, so the
  // question is pending again. Only the process whose call waits calls this, because its plan says
  // who is registered (AP-44).
  Task<void> disown_forged(std::string approval_id);
  // As long as one look of `wait` takes, or until something happens to it in this process.
  Async<void> pause(std::string approval_id);
  void ring(const std::string& approval_id) { bell_.ring(approval_id); }

  // Closes a question that has expired, and a yes that was not used in time. Turns sufficient
  // answers into a decision (AP-17, AP-19).
  Task<void> expire(std::string approval_id);
  // The same for all; for a process that starts (AP-20).
  Task<void> expire_all();

  // One who may answer lets others answer too; what was asked and until when stays as it is
  // (AP-26). `by` is the person who does, as the door knows him, with his reason. Errors are those
  // of `answer`, and `Unauthenticated` where the one it goes to may never answer.
  Task<void> escalate(std::string approval_id, std::vector<std::string> to, Reply by);

  // What a rule passes on after some time, where that time has come (RU-19).
  Task<void> pass_on(std::string approval_id);

  // A yes that can no longer be used, because the call is refused for another reason (AP-9).
  Task<void> invalidate(std::string approval_id, std::string reason);

  // What was asked for a session is taken back; proposals stay (AP-18). Returns how many.
  Task<std::size_t> cancel_session(std::string session_id, std::string reason);

  // What a state other than `pending` says to the call. `Conflict`: it has served another one.
  Result<Reply> reply_of(const State& state);
  // What was decided, also where it has served by now.
  Result<Reply> decided(const State& state);

  // The fact that an approval is used, with what must still be stored: travels with the intent.
  struct Change {
    Fact expected;
    Fact fact;
  };
  static Change change(const std::string& approval_id, const State& state, std::string_view word);
  // What was asked about is gone with the process that had prepared it.
  static Fact invalidated(const std::string& approval_id, const std::string& call_id,
                          const std::string& call_digest);

 private:
  // `NotFound`, or `Conflict` where it is no longer pending.
  Result<State> open_state(const std::string& approval_id);
  Task<void> respond(std::string approval_id, Reply reply);
  Vote vote_of(const Reply& reply) const;
  std::shared_ptr<const ApprovalRules> rules() const { return rules_ ? rules_() : nullptr; }
  // Nothing is written where the state is no longer `from`.
  Task<bool> close(std::string approval_id, std::string_view from, Closing closing);
  Task<void> settle(std::string approval_id);
  std::chrono::milliseconds look_again() const;

  Recorder& recorder_;
  const Clock& clock_;
  const Redactor& redactor_;
  Rules rules_;
  Bell bell_;
  // How many wait. Shared: a call that is given up on may outlive this.
  std::shared_ptr<std::atomic<unsigned>> waiting_ = std::make_shared<std::atomic<unsigned>>(0);
};

}  // namespace sallyport::core
