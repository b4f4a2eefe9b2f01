// Makes everything that a document needs to run: steps 11 and 12 of GR-6.
#pragma once

#include <expected>
#include <memory>

#include "guardrails/compiled.h"

namespace sallyport::guardrails {

std::expected<std::shared_ptr<const Compiled>, DocumentError> compile(Document document,
                                                                      std::uint64_t generation);

}  // namespace sallyport::guardrails
