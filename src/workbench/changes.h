// Finds changes that would let a call run. Each is applied and decided again before it is reported
// (WB-28).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workbench/call_trial.h"
#include "workbench/causes.h"

namespace sallyport::app {

struct EditText {
  std::string place{};  // in the policy or in the input; empty: neither
  std::string text{};   // `on_fail: block -> log`
};

enum class ChangeKind : std::uint8_t { Policy, Input, World };
std::string_view to_string(ChangeKind kind);

// Edits that together give the verdict; no one of them can be left out.
struct Change {
  ChangeKind kind = ChangeKind::Policy;
  std::vector<EditText> edits{};
  CallVerdict verdict = CallVerdict::Runs;  // as tried
};

// Returns the changes that let the call run, cheapest first, at most three of each kind. Empty: it
// runs, or no tried change helps.
Result<std::vector<Change>> changes_for(const CallTrial& trial, const std::vector<Cause>& causes);

}  // namespace sallyport::app
