// Durable questions about calls, and their answers. Whoever asks, whoever answers and whoever waits
// may be different processes on one ledger; of several answers exactly one counts.
#pragma once

#include <optional>
#include <string>

#include "base/bell.h"
#include "base/clock.h"
#include "core/recorder.h"
#include "sallyport/approval.h"

namespace sallyport::core {

class Approvals {
 public:
  Approvals(Recorder& recorder, const Clock& clock) : recorder_(recorder), clock_(clock) {}

  // The entry that opens a question; written in one commit with the record that says so.
  Draft asked(const Question& question, const Subject& subject) const;

  struct State {
    std::string word;  // pending, approved, denied, expired, cancelled, invalidated, used
    std::string call_id;
    std::string call_digest;
    WallTime expires_at{};
    std::string stored;  // the fact as it is, to be expected by whoever changes it
    std::uint64_t sequence = 0;
  };
  // Nothing: there is no such question.
  Result<std::optional<State>> state(const std::string& approval_id);

  // Exactly one answer counts: `Conflict` with the state as cause when it is no longer pending.
  Task<void> answer(std::string approval_id, Reply reply, Subject subject);

  // Until somebody answers, `until` or a cancel; those two are answers too, and are recorded.
  Task<Reply> wait(std::string approval_id, WallTime until, Subject subject,
                   std::stop_token cancel);

  // A question whose time is over is answered by that.
  Task<void> expire(std::string approval_id);

  // What a state other than `pending` says to the call.
  Result<Reply> reply_of(const State& state);

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
  Recorder& recorder_;
  const Clock& clock_;
  Bell bell_;
};

}  // namespace sallyport::core
