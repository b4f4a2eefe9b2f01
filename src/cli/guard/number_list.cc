#include "cli/guard/number_list.h"

#include <fmt/format.h>

#include <charconv>

namespace sallyport::app {

Result<std::vector<std::size_t>> number_list(const std::optional<std::string>& text,
                                             const std::string& option) {
  std::vector<std::size_t> numbers;
  if (!text) return numbers;
  const char* at = text->data();
  const char* const end = at + text->size();
  for (;;) {
    std::size_t number = 0;
    const auto [stopped, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || (stopped != end && *stopped != ',')) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("`{}` is not a list of numbers; write {} 3,0,5", *text, option));
    }
    numbers.push_back(number);
    if (stopped == end) return numbers;
    at = stopped + 1;
  }
}

}  // namespace sallyport::app
