// The capability that an agent needs for a class of effects (AT-21).
//
//   capability_of("fs.move");   // "workspace.write_text"
#pragma once

#include <string_view>

namespace sallyport::core {

// `none` for a class that only reads; `unknown` for a class that is in no table.
std::string_view capability_of(std::string_view effect_class);

}  // namespace sallyport::core
