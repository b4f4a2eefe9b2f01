// Records who opened sealed content over HTTP: one entry for each person and minute, more if
// requests come at the same moment (CO-50).
#pragma once

#include <map>
#include <string>

#include "api/role.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "ledger/ledger.h"

namespace sallyport::app {

// May be used from any thread that may block.
class OpenedContent {
 public:
  OpenedContent(ledger::Ledger& ledger, const Clock& clock) : ledger_(ledger), clock_(clock) {}

  // `what`: the place, for example `entries/14`. An error: it is not recorded, so show nothing.
  Result<void> note(const api::Person& person, const std::string& what);

 private:
  ledger::Ledger& ledger_;
  const Clock& clock_;
  Guarded<std::map<std::string, SteadyTime>> noted_;
};

}  // namespace sallyport::app
