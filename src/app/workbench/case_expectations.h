// What cases expect, held against the policy and against what was decided (WB-19).
#pragma once

#include <string>

#include "app/workbench/case_trial.h"

namespace sallyport::app {

// A rule, check, tool or agent that the case expects and the policy does not have: an error at its
// place (WB-19).
Result<void> check_expected_names(const CallCase& one, const policy::Policy& policy);

// What differs from what was expected; empty: nothing.
std::string problem_of(const CallCase& one, const CaseAnswer& answer);

}  // namespace sallyport::app
