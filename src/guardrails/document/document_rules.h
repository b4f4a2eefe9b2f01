// Steps 4 to 10 of GR-6: what a document of the right shape must still satisfy.
#pragma once

#include "guardrails/document/document.h"

namespace sallyport::guardrails {

// `document` is what `read_shape` made of `given`, with labels.
//
// Check by check, so a fault of a later check never hides one of an earlier: where a check is
// refused, the patterns of those before it (step 11) are looked at first.
std::expected<void, DocumentError> check_rules(const Document& document, const json::value& given);

}  // namespace sallyport::guardrails
