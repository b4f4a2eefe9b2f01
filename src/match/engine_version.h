// The version of everything that compiled patterns depend on, except the patterns.
#pragma once

#include <string>

namespace sallyport::match {

// Covers the engine's own sources, the Unicode tables and the pattern compiler.
std::string engine_version();

}  // namespace sallyport::match
