// Warnings about probable mistakes in a valid policy (RU-74).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rules/rule_set.h"

namespace sallyport::rules {

struct Warning {
  std::string place{};  // file:line:column
  std::string code{};   // `unreachable`, `shadowed`, ...
  std::string text{};

  bool operator==(const Warning&) const = default;
};

struct WarningFacts {
  WallTime now{};
  std::string home{};  // empty: unknown
  // Agents that exist outside of the rules. No value: unknown.
  std::optional<std::set<std::string>> agents{};
};

// In the order of the file.
std::vector<Warning> warnings(const RuleSet& set, const WarningFacts& facts);

}  // namespace sallyport::rules
