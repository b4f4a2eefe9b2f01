// Writes the records of a call: the intent before the effect, the outcome after it, and exactly one
// terminal record whatever happens (AU-32).
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
  // The record, preceded by the artifact and the escalations that it names.
  std::vector<Draft> record(Trail& trail, Ending& ending) const;
  // The same for a call of which only `draft` is left (`reopened`).
  std::vector<Draft> complete(Draft draft, Ending& ending) const;
  // The entries about a result that came after the end of its call, with the verdict of the second
  // door. The last one is the late result.
  std::vector<Draft> late_result(const Call& call, const std::string& policy_hash, Release release,
                                 std::chrono::nanoseconds after) const;

  // Writes the rows of the trail, then `drafts`, in one transaction. If that fails, the trail keeps
  // its rows. `Conflict`: an expected fact changed.
  Task<std::vector<Position>> commit(Trail& trail, std::vector<Draft> drafts, Urgency urgency,
                                     std::vector<Fact> expected = {});

  // Writes the ending of the call. If that fails, the ending is owed as `persistence_failed`, with
  // the rows before it, and the answer must not go out.
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
