// Finds openings that are missing from an export and that the log itself does not explain. An
// export may be shown without its content (LE-37).
#pragma once

#include <string>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::ledger {

// Returns the paths of sealed fields of `entry` without an item in `openings`, in order. Leaves out
// fields whose value is never stored: the original of a replaced result, what would have to be
// redacted of a released one, and the excerpt of a finding.
std::vector<std::string> absent_openings(const json::object& entry, const json::array& openings);

}  // namespace sallyport::ledger
