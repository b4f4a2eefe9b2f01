// The detector `high_entropy`: text that looks random. Off unless asked for.
#pragma once

#include "guards/detect/candidates.h"

namespace sallyport::guards {

// Adds every run of 24..256 token characters whose Shannon entropy is 4.5 bits or more.
void check_high_entropy(Candidates& found);

}  // namespace sallyport::guards
