// The one place that ends calls: events, terminal record, trust record and idempotency row in one
// commit, then hooks, sinks and the answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "core/approval/approvals.h"
#include "core/call/call_events.h"
#include "core/call/call_record.h"
#include "core/call/ending.h"
#include "core/call/governor_parts.h"
#include "core/call/sink_feed.h"
#include "core/call/trail.h"
#include "core/event/emitter.h"
#include "core/record/journal.h"
#include "core/record/plain_text.h"
#include "sallyport/answer.h"

namespace sallyport::core {

// Adds the people who approved, for a trust record.
void add_consent(Remembered& ended, const Consent& consent);

// The preview of a result in an event. Text far behind the cut is dropped, the rest is redacted and
// then cut, because a cut could leave half of a secret.
std::string output_preview(const Redactor& redactor, const std::string& output);

// Owned by `Stages`.
class Closer {
 public:
  struct Parts {
    const GovernorParts& governor;
    Approvals& approvals;
    Journal& journal;
    Emitter& emitter;
    CallEvents& events;
    SinkFeed& sinks;
  };
  explicit Closer(Parts parts)
      : parts_(parts.governor),
        approvals_(parts.approvals),
        journal_(parts.journal),
        emitter_(parts.emitter),
        events_(parts.events),
        sinks_(parts.sinks) {}

  // The record is durable when this returns an answer. The exception is a refusal whose record
  // cannot be written: it stays a refusal, with the outcome `persistence_failed`. Its record is
  // owed, or a smaller one is written if no entry can hold it. An error: nothing may be shown;
  // its `where` is `kOutcome` if the call ran.
  Task<Answer> finish(Trail& trail, Ending ending);

  // A call that is known only by its record, and its end.
  struct Left {
    CallRecord record;
    Ending ending;
    FailOpenLog::Share fail_open{};  // guards that failed open; written before the record
  };
  // Closes all of them in one commit and returns the positions of their records. `Conflict`: an
  // expected fact changed, and nothing is written.
  Task<std::vector<Position>> close(std::vector<Left> calls, std::vector<Fact> expected);

 private:
  Answer answer_of(const Trail& trail, const Ending& ending) const;
  std::optional<Draft> memory_of(const Trail& trail, const Ending& ending) const;
  std::vector<Event> closing_events(const Trail& trail, const Ending& ending,
                                    const ToolResult& result) const;
  std::string shown(std::string text) const { return plain_text(parts_.redactor, std::move(text)); }

  const GovernorParts& parts_;
  Approvals& approvals_;
  Journal& journal_;
  Emitter& emitter_;
  CallEvents& events_;
  SinkFeed& sinks_;
};

}  // namespace sallyport::core
