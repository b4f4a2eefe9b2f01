// Compares the expectations of cases with the policy and with the decisions (WB-19).
#pragma once

#include <string>

#include "workbench/case_trial.h"

namespace sallyport::app {

// A rule, check, tool or agent that the case expects and the policy does not have: an error at its
// place (WB-19).
Result<void> check_expected_names(const CallCase& test_case, const policy::Policy& policy);

// The differences from the expectation; empty: none.
std::string problem_of(const CallCase& test_case, const CaseAnswer& answer);

}  // namespace sallyport::app
