// Steps 4 to 10 of GR-6: the rules for a document of the right shape.
#pragma once

#include "guardrails/document/document.h"

namespace sallyport::guardrails {

// `document` is what `read_shape` made of `given`, with labels.
//
// Goes check by check, so that a fault of a later check never hides one of an earlier check. Before
// a check is refused, the patterns of the checks before it are tried (step 11).
std::expected<void, DocumentError> check_rules(const Document& document, const json::value& given);

}  // namespace sallyport::guardrails
