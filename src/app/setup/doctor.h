// Looks at everything a ledger depends on, and says what to do about what is odd.
#pragma once

#include <string>
#include <vector>

#include "app/context.h"

namespace sallyport::app {

enum class Finding { Ok, Warn, Fail };

struct Check {
  std::string name;
  Finding finding = Finding::Ok;
  std::string detail;
  std::string advice;  // empty where there is nothing to do
};

// Changes nothing but lock files that dead processes left.
std::vector<Check> examine_installation(const Context& context);

}  // namespace sallyport::app
