// Why a call would run or would not: a rehearsal in words, and what would have to differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/rehearsal.h"
#include "sallyport/json.h"

namespace sallyport::app {

// What the log has of a call that was made before.
struct RecordedDecision {
  std::uint64_t sequence = 0;
  std::string outcome;
  std::string reason;
  std::string policy_hash;
  std::string tier;
  std::string tier_source;
  bool redacted = false;  // its input is not what it was
};

struct Explained {
  core::Rehearsal now;
  std::string policy;         // its name, or its file
  std::string policy_note{};  // why it is not the one that the call ran under
  std::optional<RecordedDecision> then{};
};

// runs, refused, shadow, proposed, asks.
std::string_view verdict_of(const core::Rehearsal& now);

// What must be otherwise for the call to run, most telling first; empty where it runs.
std::vector<std::string> to_run(const core::Rehearsal& now);

json::object explanation_json(const Explained& explained);
void say_explanation(const Explained& explained);

}  // namespace sallyport::app
