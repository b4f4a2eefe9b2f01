// Findings about tiers, about people who are required, and about quorums (WB-63).
#pragma once

#include <string>
#include <vector>

#include "workbench/policy_findings.h"

namespace sallyport::app {

// The policy is not null.
std::vector<PolicyFinding> tier_findings(const PolicyToLint& linted);

// The place of a part, or of its key.
std::string place_in(const PolicyToLint& linted, const std::string& pointer, bool key = false);

// By the sources of RU-24. `pattern` may have `*`.
bool is_known_tool(const PolicyToLint& linted, const std::string& pattern);

json::object dead_by(std::string unit);

}  // namespace sallyport::app
