// The files of policies/, compiled into the program.
#pragma once

#include <span>
#include <string_view>

namespace sallyport::policy {

struct ShippedPolicy {
  std::string_view name;
  std::string_view text;
};

std::span<const ShippedPolicy> shipped_policies();
const ShippedPolicy* shipped_policy(std::string_view name);  // null: no such policy
// The test cases of a shipped policy, from policies/cases/ (RU-79). Null: it has none.
const ShippedPolicy* shipped_cases(std::string_view name);

}  // namespace sallyport::policy
