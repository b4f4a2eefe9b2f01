// A quick no for short strings, which are most of what a record holds.
#pragma once

#include <string_view>

#include "guards/detect/detector_table.h"

namespace sallyport::guards {

// False only when no detector of `wanted` can match: some character that each of them needs is
// missing, or the text is too short for it. True says nothing. Longer texts are always true.
bool may_match(std::string_view text, const DetectorSet& wanted);

}  // namespace sallyport::guards
