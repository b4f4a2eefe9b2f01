// Why a call would run or would not: the verdict, who decides, every cause, and changes that were
// tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/decision/rehearsal.h"
#include "sallyport/json.h"
#include "workbench/call_trial.h"
#include "workbench/changes.h"

namespace sallyport::app {

// A value that redaction took out of the input.
struct Hole {
  std::string path{};  // JSON Pointer into the input
  std::string category{};
  std::string detector{};  // empty: an earlier release wrote the record
  std::string digest{};
  bool whole = false;
};

// The recorded decision about a call that was made before.
struct RecordedDecision {
  std::uint64_t sequence = 0;
  std::string outcome;
  std::string reason;
  std::string policy_hash;
  std::string tier;
  std::string tier_source;
  CallVerdict verdict = CallVerdict::Runs;  // as the record has it
  std::optional<bool> reproduced{};         // no value: it was not decided again as it was then
  bool redacted = false;                    // its input is not what it was
  std::vector<Hole> holes{};                // in its input
  bool input_gone = false;                  // erased since, or not opened here
};

// Why a call is not decided (WB-2).
struct Undecided {
  std::string reason;   // a code
  std::string missing;  // the value that is missing
  std::string text{};   // for people
};

struct Explained {
  std::optional<Undecided> undecided{};
  core::Rehearsal now{};
  Cause decider{};
  std::vector<Cause> causes{};
  std::vector<Change> changes{};
  std::vector<Hole> holes{};
  std::optional<TrialRelease> release{};  // if it was asked for, and the result is known
  std::string policy;                     // its name, or its file
  std::string policy_note{};              // which text it is
  std::optional<RecordedDecision> then{};

  CallVerdict verdict() const { return undecided ? CallVerdict::Undecided : verdict_of(now); }
};

json::object explanation_json(const Explained& explained);
void print_explanation(const Explained& explained);

}  // namespace sallyport::app
