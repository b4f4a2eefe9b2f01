// The faults of a policy, or of one rule, in the reader's words.
#pragma once

#include <string>

#include "policy/policy.h"

namespace sallyport::policy {

// Returns `where: message`, or an empty string if there is no fault.
inline std::string fault_of(const std::string& sections) {
  const Result<Policy> policy = read_policy("version: 1\n" + sections, "p.yaml");
  return policy ? "" : policy.error().where + ": " + policy.error().message;
}
inline std::string fault_of_rule(const std::string& rule) {
  return fault_of("rules:\n  - {" + rule + "}\n");
}

}  // namespace sallyport::policy
