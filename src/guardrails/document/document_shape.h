// Step 3 of GR-6: has everything in the document the right type and a known name? In document
// order, so that the first error is the one that a reader of the text meets first; what an object
// lacks is known at its end.
#pragma once

#include "guardrails/document/document.h"

namespace sallyport::guardrails {

// The document as it says, limits not yet looked at: labels and hash are still empty.
std::expected<Document, DocumentError> read_shape(const json::value& given);

}  // namespace sallyport::guardrails
