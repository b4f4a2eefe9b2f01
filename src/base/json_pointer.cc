#include "base/json_pointer.h"

#include <fmt/format.h>

namespace sallyport {

void append_step(std::string& pointer, std::string_view member) {
  pointer += '/';
  if (member.find_first_of("~/") == std::string_view::npos) {
    pointer += member;
    return;
  }
  for (const char c : member) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
}

std::string pointer_to(std::string_view parent, std::string_view member) {
  std::string pointer(parent);
  append_step(pointer, member);
  return pointer;
}

std::string pointer_to(std::string_view parent, std::size_t index) {
  return fmt::format("{}/{}", parent, index);
}

}  // namespace sallyport
