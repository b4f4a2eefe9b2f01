#include "core/event/topic_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cut_text.h"

namespace sallyport::core {

Result<void> check_topic_name(std::string_view name) {
  constexpr std::size_t kLongest = 128;
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  if (!name.empty() && name.size() <= kLongest && std::ranges::all_of(name, allowed)) return {};
  return fail(ErrorCode::InvalidInput,
              fmt::format("`{}` is not a topic, a name is 1 to {} of A-Z a-z 0-9 . _ -",
                          cut_utf8_bytes(readable(name), 60), kLongest),
              "topic");
}

}  // namespace sallyport::core
