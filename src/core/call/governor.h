// The only way to a tool: runs one call through both doors and the ledger.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/async.h"
#include "core/call/caller.h"
#include "core/call/dispatch.h"
#include "core/call/rehearsal.h"
#include "core/call/stages.h"
#include "core/call/upstream.h"
#include "sallyport/answer.h"

namespace sallyport::core {

// One per process; owned by app. Calls run on the executor of whoever awaits them, a strand or a
// context with one thread; different calls may run on different threads at once.
class Governor {
 public:
  using Parts = GovernorParts;
  explicit Governor(Parts parts) : stages_(std::move(parts)) {}

  // Before the first call: what earlier runs left open is closed by the ledger, and this says so.
  // An error means that no call may be accepted (EV-60).
  Task<void> start();

  // What is over is closed, and nothing is announced: for a process that passes by (EV-14).
  Task<void> tidy();

  // An error means that nothing may be shown: the call could not be recorded, or was not a call.
  // A refused, failed or withheld call is a good answer that says so.
  // `upstream` is shared: a call that was given up on keeps it until it ends.
  Task<Answer> run(Call call, std::shared_ptr<Upstream> upstream, Caller caller = {});

  // A call, and what executes it.
  struct Asked {
    Call call;
    std::shared_ptr<Upstream> upstream;  // shared: a call that was given up on keeps it
  };
  // The first of them, and at the same time those behind it that only observe, if it does too; one
  // that may act runs alone (AU-43). Decided one after the other, so that they start in this order;
  // answers stand in it too, and are fewer where not all could run together: call again with the
  // rest. Nobody is decided behind one that waits for a person, which then is the last.
  Task<std::vector<Answer>> run_together(std::vector<Asked> calls, Caller caller = {});

  // What `run` would decide about it now, and why. Guards are asked and hooks told; nothing is
  // written, nobody is asked, and the tool does not run.
  Task<Rehearsal> rehearse(Call call, std::shared_ptr<Upstream> upstream,
                           Hearing hearing = Hearing::UntilRefused);

  // A call of a dispatch that is made again (AP-24): decided by the plan of now, answered by what
  // was recorded of the first time, and never executed.
  Task<Answer> replay(Call call, std::shared_ptr<Upstream> upstream, ReplayCount& count);

  // A call that waited for a person, and what goes with it.
  struct Resumption {
    Call call;  // the one that was asked about, with its call id
    std::string approval_id;
    std::optional<Prepared> prepared{};
    std::vector<Fact> closing{};  // travel with the terminal record
    bool observed = false;        // it has run: the host's own yes may stand for it (AP-33)
  };
  // Goes on with it. `Conflict` with the cause `approval_pending` while nobody has answered, with
  // the state of the approval where it can no longer be used.
  Task<Answer> resume(Resumption waited, std::shared_ptr<Upstream> upstream, Caller caller = {});

  // Runs what was proposed and is approved by now, and ends what is refused; each once, whichever
  // process comes first. `find_tool` may give null: the call is left to another process.
  using FindTool = std::function<std::shared_ptr<Upstream>(const Call& call)>;
  Task<std::vector<Answer>> run_answered(FindTool find_tool, std::stop_token cancel = {});

  // Gives sinks the records that were written when nobody waited for them any more (AU-88). Happens
  // by itself at the start and beside every call; a host may do so when it hears of some.
  Task<void> tell_unheard();

  // For hand-offs, whose calls run elsewhere: checks a call and gives it its ids. An error: it was
  // no call, and there is no record of it.
  Result<Call> accept(Call asked);
  // All that comes before the effect. Nothing: the call may run, and its intent is on record. An
  // answer: the call ends here, or waits.
  Task<std::optional<Answer>> admit(Trail& trail, std::shared_ptr<Upstream> upstream,
                                    const Caller& caller);
  Trail trail_of(Call call);

  Stages& stages() { return stages_; }
  Approvals& approvals() { return stages_.approvals; }
  Escalations& escalations() { return stages_.escalations; }
  Idempotency& idempotency() { return stages_.idempotency; }
  Emitter& emitter() { return stages_.emitter; }

 private:
  Result<Call> identify(Call call) const;
  Task<Answer> govern(Trail& trail, std::shared_ptr<Upstream> upstream, Caller caller);
  Task<Answer> conduct(Trail& trail, std::shared_ptr<Upstream> upstream, const Caller& caller);
  // Of a call that does not run: `recalled` is what it gave the first time; without it, it is
  // refused.
  Task<Answer> end_unrun(Trail& trail, std::optional<Performed> recalled, Upstream& upstream,
                         std::stop_token cancel);

  Stages stages_;
};

}  // namespace sallyport::core
