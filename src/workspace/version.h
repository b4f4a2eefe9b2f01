#pragma once

#include <string_view>

namespace sallyport::app {

std::string_view version();

}  // namespace sallyport::app
