// What is wrong with a policy, or with one rule, as the reader says it.
#pragma once

#include <string>

#include "policy/policy.h"

namespace sallyport::policy {

// `where: message`; empty: nothing.
inline std::string fault_of(const std::string& sections) {
  const Result<Policy> policy = read_policy("version: 1\n" + sections, "p.yaml");
  return policy ? "" : policy.error().where + ": " + policy.error().message;
}
inline std::string fault_of_rule(const std::string& rule) {
  return fault_of("rules:\n  - {" + rule + "}\n");
}

}  // namespace sallyport::policy
