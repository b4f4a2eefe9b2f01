// The marks that redaction leaves. They must never match again (PI-67).
#pragma once

#include <string>
#include <string_view>

#include "guards/detect/detector_table.h"

namespace sallyport::guards {

std::string redaction_mark(Category category);  // `[REDACTED:secret]` (AU-82)

// True if `text` is exactly one mark: `[REDACTED:...]`, `[FP:...]` or `****`.
bool is_redaction_mark(std::string_view text);

}  // namespace sallyport::guards
