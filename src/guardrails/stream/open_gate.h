// A gate that nothing is checked at: what a dry run shows of a stream that no check applies to.
#pragma once

#include <memory>

#include "guardrails/stream/gate.h"

namespace sallyport::guardrails {

// Holds nothing but an unfinished character; ill-formed parts become U+FFFD, as everywhere.
std::unique_ptr<TextGate> open_gate();

}  // namespace sallyport::guardrails
