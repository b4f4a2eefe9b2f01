// Says in records what happened to a call: intent before the effect, outcome after it, and exactly
// one terminal record whatever happens (AU-32).
#pragma once

#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "core/outcome.h"
#include "core/recorder.h"
#include "core/trail.h"

namespace sallyport::core {

class Journal {
 public:
  explicit Journal(Recorder& recorder) : recorder_(recorder) {}

  // Durable when it returns well; otherwise nothing may be called.
  Task<Position> begin(Trail& trail);

  // The terminal record. When it cannot be written it is owed as `persistence_failed`, and the
  // answer must not go out.
  Task<Position> end(Trail& trail, const Outcome& outcome);

  // A call whose intent could not be written: nothing ran, and that is owed too.
  void owe(Trail& trail, const Outcome& outcome);

 private:
  std::vector<Draft> drafts(Trail& trail, Draft record);
  Recorder& recorder_;
};

// The drafts that close a call whose process died between intent and outcome (AU-77), made from
// its intent: `entry` as stored, `body` with its content opened.
std::vector<Draft> close_interrupted(const json::value& entry, const json::value& body);

}  // namespace sallyport::core
