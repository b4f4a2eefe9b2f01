// Visits the strings of an input, each with a mark from the member names above it.
#pragma once

#include <algorithm>
#include <boost/json.hpp>
#include <string_view>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::grants {

// Visits every string below `value`. `named` returns a mark for some member names. A string gets
// the mark of the nearest such name above it, otherwise `mark`.
template <class Mark, class Named, class Visit>
void visit_strings(const json::value& value, Mark mark, const Named& named, const Visit& visit) {
  if (value.is_string()) {
    visit(std::string_view(value.get_string()), mark);
  } else if (const json::array* const array = value.if_array()) {
    for (const json::value& item : *array) visit_strings(item, mark, named, visit);
  } else if (const json::object* const object = value.if_object()) {
    for (const auto& member : *object) {
      const std::string_view name = member.key();
      visit_strings(member.value(), named(name).value_or(mark), named, visit);
    }
  }
}

// Removes what programs ignore in front of an address: blanks of any script, and controls. `requests`
// of Python removes a no-break space there, for example.
std::string_view without_front(std::string_view text);

inline std::vector<std::string_view> all_strings(const json::value& value) {
  std::vector<std::string_view> strings;
  visit_strings(
      value, 0, [](std::string_view) { return std::optional<int>(); },
      [&](std::string_view text, int) { strings.push_back(text); });
  return strings;
}

template <class Names>
bool names(const Names& list, std::string_view name) {
  return std::ranges::find(list, name) != std::ranges::end(list);
}

}  // namespace sallyport::grants
