// Removes facts that are no longer needed, so that cost and size do not grow with history.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/record/record_log.h"

namespace sallyport::core {

// A space whose facts have the member `at`, or are lists of objects with `at`: the last counts.
struct Retiring {
  std::string space;
  std::chrono::hours after;  // since `at`
};

// Removes the facts that are too old, at most a few hundred with each commit. An entry on the topic
// `facts` says how many. A fact without a time is of an earlier release: it gets the current time,
// or is removed if its form has no place for one. A fact that changes meanwhile stays.
Task<void> retire_facts(RecordLog& records, std::vector<Retiring> spaces, WallTime now);

}  // namespace sallyport::core
