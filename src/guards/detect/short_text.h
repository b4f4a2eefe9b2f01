// A quick test for short strings, which are the majority in records.
#pragma once

#include <string_view>

#include "guards/detect/detector_table.h"

namespace sallyport::guards {

// False if no detector of `wanted` can match, because the text is too short or lacks a character
// that the detector needs. True does not mean that one matches. Longer texts always return true.
bool may_match(std::string_view text, const DetectorSet& wanted);

}  // namespace sallyport::guards
