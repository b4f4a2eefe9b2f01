// The Governor is the only way to a tool.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "core/call/caller.h"
#include "core/call/stages.h"
#include "core/call/upstream.h"
#include "core/decision/rehearsal.h"
#include "core/turn/dispatch.h"
#include "sallyport/answer.h"

namespace sallyport::core {

// The cause in the error of a start whose event a hook refuses, or which cannot be recorded. The
// program ends with 70 (EV-60).
inline constexpr std::string_view kStartRefused = "start_refused";

// One per process; owned by app. A call runs on the executor of the coroutine that awaits it: a
// strand, or a context with one thread. Different calls may run on different threads at once.
class Governor {
 public:
  using Parts = GovernorParts;
  explicit Governor(Parts parts) : stages_(std::move(parts)) {}

  // Called before the first call. The ledger closes what earlier runs left open, and this announces
  // it. An error means that no call may be accepted (EV-60).
  Task<void> start();

  // Closes what has expired, without an announcement, for a process that runs only briefly (EV-14).
  Task<void> tidy();

  // Runs one call. A refused, failed or withheld call is an answer that says so. An error means
  // that the call could not be recorded or is malformed: show nothing. `upstream` is shared,
  // because an abandoned call keeps it until it ends.
  Task<Answer> run(Call call, std::shared_ptr<Upstream> upstream, Caller caller = {});

  // A call and the upstream that runs it.
  struct RunnableCall {
    Call call;
    std::shared_ptr<Upstream> upstream;  // shared: an abandoned call keeps it
  };
  // Runs the first call and, if it only observes, the following calls that only observe at the same
  // time. A call that may act runs alone. Calls are decided one after the other, so they start in
  // this order. The answers have the same order; if there are fewer answers than calls, call again
  // with the rest. After a call that waits for a person no further call is decided (AU-43).
  Task<std::vector<Answer>> run_together(std::vector<RunnableCall> calls, Caller caller = {});

  // Returns what `run` would decide now, and why. It asks guards. It writes nothing, notifies no
  // hook, asks no person and does not run the tool.
  Task<Rehearsal> rehearse(Call call, std::shared_ptr<Upstream> upstream,
                           RehearsalScope scope = RehearsalScope::UntilRefused);

  // Replays a call of a dispatch: the current plan decides, the recorded answer and result count,
  // and the tool does not run (AP-24).
  Task<Answer> replay(Call call, std::shared_ptr<Upstream> upstream, ReplayCount& count);

  // A call that waited for a person.
  struct Resumption {
    Call call;  // the call that was asked about, with its call id
    std::string approval_id;
    std::optional<Prepared> prepared{};
    std::vector<Fact> closing{};  // committed with the terminal record
    // the tool has run: the yes of the host's own dialog may count (AP-33)
    bool observed = false;
  };
  // Continues a waiting call. `Conflict` with the cause `approval_pending`: there is no answer yet.
  // `Conflict` with the state of the approval as cause: the approval can no longer be used.
  Task<Answer> resume(Resumption waited, std::shared_ptr<Upstream> upstream, Caller caller = {});

  // Runs approved proposals and closes refused ones, each once, in whichever process comes first.
  // If `find_tool` returns null, the call is left to another process.
  using FindTool = std::function<std::shared_ptr<Upstream>(const Call& call)>;
  Task<std::vector<Answer>> run_answered(FindTool find_tool, std::stop_token cancel = {});

  // Delivers late records to the sinks: records that were written after their caller had left. It
  // runs at the start and with every call; a host may call it when it learns of such records
  // (AU-88).
  Task<void> deliver_late_records();

  // For hand-offs, whose calls run elsewhere: checks a call and gives it its ids. An error: the
  // call is malformed and has no record.
  Result<void> accept(Call& call);
  // Does everything before the effect. No value: the call may run, and its intent is recorded. An
  // answer: the call ends here, or waits.
  Task<std::optional<Answer>> admit(Trail& trail, std::shared_ptr<Upstream> upstream,
                                    const Caller& caller);
  // Does everything after the intent: the effect, the second door, the record.
  Task<Answer> conduct(Trail& trail, std::shared_ptr<Upstream> upstream, const Caller& caller);
  // Does both, for a trail in which the caller has set more than `run` does.
  Task<Answer> govern(Trail& trail, std::shared_ptr<Upstream> upstream, Caller caller);
  // Ends a call that does not run. `recalled` is the earlier answer, which is returned again.
  // Without it the call is refused.
  Task<Answer> end_unrun(Trail& trail, std::optional<Performed> recalled, Upstream& upstream,
                         std::stop_token cancel);
  // Returns the trail of a call that waited for a person and has an answer. The errors are those
  // of `resume`.
  Task<Trail> reopen(Resumption waited, Upstream& upstream);
  Trail trail_of(Call&& call);

  Stages& stages() { return stages_; }
  Approvals& approvals() { return stages_.approvals; }
  Escalations& escalations() { return stages_.escalations; }
  Idempotency& idempotency() { return stages_.idempotency; }
  Emitter& emitter() { return stages_.emitter; }
  Recorder& recorder() { return stages_.parts.recorder; }

 private:
  Result<void> identify(Call& call) const;

  Stages stages_;
};

}  // namespace sallyport::core
