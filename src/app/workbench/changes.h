// What would let a call run: changes each of which was applied and decided again before it is said
// (WB-28).
#pragma once

#include <string>
#include <vector>

#include "app/workbench/call_trial.h"
#include "app/workbench/causes.h"

namespace sallyport::app {

struct EditText {
  std::string place{};  // in the policy or in the input; empty: neither
  std::string text{};   // `on_fail: block -> log`
};

// Edits that together give the verdict; no one of them can be left out.
struct Change {
  std::string kind{};  // policy, input, world
  std::vector<EditText> edits{};
  std::string verdict{};  // as tried
};

// What lets the call run, cheapest first, at most three of each kind. Empty where it runs, and
// where nothing that was tried helps.
Result<std::vector<Change>> changes_for(const CallTrial& trial, const std::vector<Cause>& causes);

}  // namespace sallyport::app
