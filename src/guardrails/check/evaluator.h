// Evaluates whole texts: which checks hit, the verdict, and the text that is left.
#pragma once

#include "guardrails/check/compiled.h"
#include "guardrails/check/guardrails.h"

namespace sallyport::guardrails {

// Throws if the engine fails.
Evaluation evaluate(const Compiled& compiled, const Request& request);

// Sets the verdict from the hits, and the decision of a block (GR-20).
void decide(const Document& document, Evaluation& evaluation);

}  // namespace sallyport::guardrails
