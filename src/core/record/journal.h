// Says in records what happened to a call: intent before the effect, outcome after it, and exactly
// one terminal record whatever happens (AU-32).
#pragma once

#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "core/approval/escalations.h"
#include "core/call/ending.h"
#include "core/call/reopened_call.h"
#include "core/call/trail.h"
#include "core/record/recorder.h"
#include "core/record/redactor.h"

namespace sallyport::core {

class Journal {
 public:
  struct Parts {
    Recorder& recorder;
    const Clock& clock;
    Entropy& entropy;
    Escalations& escalations;
    const Redactor& redactor;
    KeyedDigest digest;
  };
  explicit Journal(Parts parts) : parts_(std::move(parts)) {}

  // The entries of a call, for its `rows`.
  Draft intent(Trail& trail) const;
  // With the artifact and the escalations it names in front of it.
  std::vector<Draft> record(Trail& trail, Ending& ending) const;
  // That the call waits for an answer that another call like it asked for (AP-36). One question has
  // one `requires_confirmation` (AU-24), so this is an entry about the approval.
  Draft joined(const Trail& trail) const;
  // The same as `record` for a call of which only `draft` is left (`reopened`).
  std::vector<Draft> complete(Draft draft, Ending& ending) const;
  // What came of a call behind its end, and what the second door says of it. The last of them is
  // that entry.
  std::vector<Draft> late_result(const Call& call, const std::string& policy_hash, Release release,
                                 std::chrono::nanoseconds after) const;

  // What the trail has gathered, then `drafts`, in one transaction. When it cannot be written the
  // trail keeps what it had. `Conflict`: an expected fact changed.
  Task<std::vector<Position>> commit(Trail& trail, std::vector<Draft> drafts, Urgency urgency,
                                     std::vector<Fact> expected = {});

  // The ending of the call. When it cannot be written it is owed as `persistence_failed`, with the
  // rows before it, and the answer must not go out.
  Task<Position> end(Trail& trail, Ending& ending);
  void owe(Trail& trail, Ending ending);
  void owe_rows(Trail& trail);

 private:
  std::vector<Draft> gathered(Trail& trail, FailOpenLog::Share& share) const;
  std::vector<Draft> open_escalations(Release& release, Draft& record) const;
  Async<void> end_without_record(Trail& trail, Ending ending, const Error& error);

  Parts parts_;
};

}  // namespace sallyport::core
