// Writes the records of a call: the intent before the effect, the outcome after it, and exactly one
// terminal record whatever happens (AU-32).
#pragma once

#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "core/approval/escalations.h"
#include "core/call/call_record.h"
#include "core/call/ending.h"
#include "core/call/trail.h"
#include "core/record/batch.h"
#include "core/record/record_log.h"
#include "core/record/redactor.h"

namespace sallyport::core {

class Journal {
 public:
  struct Parts {
    RecordLog& records;
    const Clock& clock;
    Entropy& entropy;
    Escalations& escalations;
    const Redactor& redactor;
    KeyedDigest digest;
  };
  explicit Journal(Parts parts) : parts_(std::move(parts)) {}

  // The entries of a call, for its `rows`.
  Draft intent(Trail& trail) const;
  // Adds the end of a call that runs here.
  EndPlaces record(Trail& trail, Ending& ending, Batch& batch) const;
  // The entry that the call waits for the answer to the question of an identical call (AP-36). One
  // question has one `requires_confirmation` (AU-24), so this is an entry about the approval.
  Draft joined(const Trail& trail) const;
  // Adds the end of any call: events, escalations, artifact, findings, the record that names them,
  // and the memory.
  EndPlaces complete(CallRecord record, Ending& ending, Batch& batch) const;
  // Entries for an answer that came after the end of its call, judged by the second door. The last
  // one is the entry of the answer.
  std::vector<Draft> late_result(const Call& call, const std::string& policy_hash, Release release,
                                 std::chrono::nanoseconds after) const;

  // Writes the gathered rows of the trail, then `batch`, in one transaction. If that fails the
  // trail keeps its rows. `Conflict`: an expected fact changed.
  Task<Written> commit(Trail& trail, Batch batch, Urgency urgency, std::vector<Fact> expected = {});

  struct Ended {
    Position record;
    std::vector<Position> events;
  };
  // Writes the ending of the call. If that fails it is owed as `persistence_failed`, with the rows
  // before it, and the answer must not be sent.
  Task<Ended> end(Trail& trail, Ending& ending);
  void owe(Trail& trail, Ending ending);
  void owe_rows(Trail& trail);

 private:
  std::vector<Draft> gathered(Trail& trail, FailOpenLog::Share& share) const;
  std::vector<Draft> open_escalations(Release& release, const SharedSubject& subject,
                                      std::vector<Fact>& facts,
                                      const std::vector<Draft>& beside) const;
  Async<void> end_without_record(Trail& trail, Ending ending, const Error& error);

  Parts parts_;
};

}  // namespace sallyport::core
