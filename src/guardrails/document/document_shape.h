// Step 3 of GR-6: checks types and names. It goes in document order, so that the first error is the
// first one in the text. A missing member is found at the end of its object.
#pragma once

#include "guardrails/document/document.h"

namespace sallyport::guardrails {

// Returns the document without checking limits. Labels and hash are still empty.
std::expected<Document, DocumentError> read_shape(const json::value& given);

}  // namespace sallyport::guardrails
