// Compiles everything that a document needs to run: steps 11 and 12 of GR-6.
#pragma once

#include <expected>
#include <memory>

#include "guardrails/check/compiled.h"
#include "guardrails/check/pattern_store.h"

namespace sallyport::guardrails {

// Uses what the store has for this document. Compiles the rest and stores it.
std::expected<std::shared_ptr<const Compiled>, DocumentError> compile(Document document,
                                                                      std::uint64_t generation,
                                                                      const PatternStore* store);

}  // namespace sallyport::guardrails
