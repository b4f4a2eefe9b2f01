// The result of compiling as bytes that are cached between processes (GR-11).
//
// The digest covers everything that the bytes depend on: the document, this engine's sources, the
// Unicode tables and the pattern compiler. It does not cover the processor: the bytes are tables,
// not code. The cache never changes the meaning of a document, only the time to load it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "guardrails/check/compiled.h"

namespace sallyport::guardrails {

std::string image_digest(const Document& document);
std::string image_of(const Compiled& compiled);
// Null: not an image of this document.
std::shared_ptr<const Compiled> read_image(const Document& document, std::uint64_t generation,
                                           std::string_view image);

}  // namespace sallyport::guardrails
