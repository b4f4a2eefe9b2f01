#include "grants/selector.h"

#include <boost/json.hpp>
#include <charconv>

namespace sallyport::grants {

namespace {

std::optional<std::string> unescaped(std::string_view step) {
  std::string name;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] != '~') {
      name += step[i];
      continue;
    }
    if (++i == step.size() || (step[i] != '0' && step[i] != '1')) return std::nullopt;
    name += step[i] == '0' ? '~' : '/';
  }
  return name;
}

std::optional<std::size_t> index_of(const std::string& name) {
  if (name.empty() || (name.size() > 1 && name[0] == '0')) return std::nullopt;
  std::size_t index = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data(), end, index);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return index;
}

const json::value* child(const json::value& value, const std::string& name) {
  if (const json::object* const object = value.if_object()) return object->if_contains(name);
  const json::array* const array = value.if_array();
  const std::optional<std::size_t> index = array ? index_of(name) : std::nullopt;
  return index && *index < array->size() ? &(*array)[*index] : nullptr;
}

void add_children(const json::value& value, std::vector<const json::value*>& out) {
  if (const json::object* const object = value.if_object()) {
    for (const auto& member : *object) out.push_back(&member.value());
  } else if (const json::array* const array = value.if_array()) {
    for (const json::value& item : *array) out.push_back(&item);
  }
}

}  // namespace

std::optional<Selector> Selector::parse(std::string_view text) {
  Selector selector;
  if (text.empty()) return selector;
  if (text[0] != '/') return std::nullopt;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view step = text.substr(0, text.find('/'));
    text.remove_prefix(step.size());
    std::optional<std::string> name = unescaped(step);
    if (!name) return std::nullopt;
    selector.steps_.push_back({std::move(*name), step == "*"});
  }
  return selector;
}

std::vector<const json::value*> Selector::select(const json::value& value) const {
  std::vector<const json::value*> found = {&value};
  for (const Step& step : steps_) {
    std::vector<const json::value*> next;
    for (const json::value* const each : found) {
      if (step.any) {
        add_children(*each, next);
      } else if (const json::value* const member = child(*each, step.name)) {
        next.push_back(member);
      }
    }
    found = std::move(next);
  }
  return found;
}

}  // namespace sallyport::grants
