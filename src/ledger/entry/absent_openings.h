// Finds openings that are missing from an export and that the log itself does not explain. An
// export may be shown without its content (LE-37).
#pragma once

#include <string>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::ledger {

// Paths of sealed fields of `entry` that no item of `openings` is for, in order. Fields whose value
// is never stored are not among them: the original of a result that was replaced, what would have
// to be redacted of a released one, and the excerpt of a finding.
std::vector<std::string> absent_openings(const json::object& entry, const json::array& openings);

}  // namespace sallyport::ledger
