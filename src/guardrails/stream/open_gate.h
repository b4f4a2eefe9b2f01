// A gate without checks. A dry run uses it for a stream that no check applies to.
#pragma once

#include <memory>

#include "guardrails/stream/gate.h"

namespace sallyport::guardrails {

// Holds back only an unfinished character. Ill-formed parts become U+FFFD, as everywhere.
std::unique_ptr<TextGate> open_gate();

}  // namespace sallyport::guardrails
