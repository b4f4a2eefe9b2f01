// What compiling made, as bytes that are kept from one process to the next (GR-11).
//
// They are named after all that they depend on: the document, this engine's sources, the Unicode
// tables and the pattern compiler it was built with. Not after a processor: they are tables, not
// code. What was kept never decides what a document says, only how soon it can run.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "guardrails/check/compiled.h"

namespace sallyport::guardrails {

std::string image_digest(const Document& document);
std::string image_of(const Compiled& compiled);
// Null: it is not an image of this document.
std::shared_ptr<const Compiled> read_image(const Document& document, std::uint64_t generation,
                                           std::string_view image);

}  // namespace sallyport::guardrails
