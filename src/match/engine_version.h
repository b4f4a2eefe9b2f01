// Names everything that what is compiled depends on, beside what is compiled.
#pragma once

#include <string>

namespace sallyport::match {

// The engine's own sources, the Unicode tables and the pattern compiler it runs with.
std::string engine_version();

}  // namespace sallyport::match
