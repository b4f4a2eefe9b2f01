#include "ledger/entry/absent_openings.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/json_pointer.h"

namespace sallyport::ledger {

namespace {

constexpr std::string_view kOriginal = "/body/post_invocation/original";
constexpr std::string_view kReleased = "/body/post_invocation/released";
constexpr std::string_view kExcerpt = "/body/excerpt";

void collect(const json::value& value, std::string& path, std::vector<std::string>& found) {
  const std::size_t length = path.size();
  if (const json::object* const object = value.if_object()) {
    if (object->size() == 1 && object->contains("$sealed")) return found.push_back(path);
    for (const json::key_value_pair& member : *object) {
      append_step(path, member.key());
      collect(member.value(), path, found);
      path.resize(length);
    }
  } else if (const json::array* const array = value.if_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      path += '/' + std::to_string(i);
      collect((*array)[i], path, found);
      path.resize(length);
    }
  }
}

// A list of redactions that was cut short may have named it.
bool is_redacted(const json::object& entry, std::string_view path) {
  const json::value* const list = entry.if_contains("redactions");
  if (list == nullptr || !list->is_array()) return false;
  return std::ranges::any_of(list->get_array(), [&](const json::value& item) {
    const json::object* const object = item.if_object();
    const std::string_view at = object == nullptr ? "-" : text_in(*object, "path").value_or("-");
    return at.empty() || std::string("/body").append(at).starts_with(path);
  });
}

bool is_withheld(const json::object& entry, std::string_view path) {
  return path == kOriginal || (path == kReleased && is_redacted(entry, path)) ||
         (path == kExcerpt && text_in(entry, "kind") == "guard_hit");
}

}  // namespace

std::vector<std::string> absent_openings(const json::object& entry, const json::array& openings) {
  std::vector<std::string> found;
  std::string path = "/body";
  if (const json::value* const body = entry.if_contains("body")) collect(*body, path, found);
  std::erase_if(found, [&](const std::string& field) {
    const bool given = std::ranges::any_of(openings, [&](const json::value& opening) {
      return opening.is_object() && text_in(opening.get_object(), "path") == field;
    });
    return given || is_withheld(entry, field);
  });
  return found;
}

}  // namespace sallyport::ledger
