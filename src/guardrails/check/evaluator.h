// Decides over whole texts: which checks hit, what follows, and what is left to pass on.
#pragma once

#include "guardrails/check/compiled.h"
#include "guardrails/check/guardrails.h"

namespace sallyport::guardrails {

// Throws where the engine fails.
Evaluation evaluate(const Compiled& compiled, const Request& request);

// The verdict of hits, and the decision behind a block (GR-20).
void decide(const Document& document, Evaluation& evaluation);

}  // namespace sallyport::guardrails
