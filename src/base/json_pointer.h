// JSON Pointers (RFC 6901).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sallyport {

// Adds `/` and the name of a member, escaped.
void append_step(std::string& pointer, std::string_view member);

std::string pointer_to(std::string_view parent, std::string_view member);
std::string pointer_to(std::string_view parent, std::size_t index);

}  // namespace sallyport
