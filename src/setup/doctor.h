// Checks everything that a ledger depends on, and says what to do about each problem.
#pragma once

#include <string>
#include <vector>

#include "workspace/context.h"

namespace sallyport::app {

enum class Finding { Ok, Warn, Fail };

struct Check {
  std::string name;
  Finding finding = Finding::Ok;
  std::string detail;
  std::string advice;  // empty where there is nothing to do
};

// Which servers cosign this ledger, and which of them refused it (SC-56).
std::vector<Check> examine_witnesses(ledger::ReadView& view, const LedgerConfig& config);

// Changes nothing but lock files that dead processes left.
std::vector<Check> examine_installation(const Context& context);

// Prints what `examine_installation` finds. 1: something fails.
Result<int> doctor(const Context& context);

}  // namespace sallyport::app
