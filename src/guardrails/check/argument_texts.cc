#include "guardrails/check/argument_texts.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <ranges>
#include <utility>

#include "base/json_pointer.h"

namespace sallyport::guardrails {

namespace {

template <class Object>
auto in_canonical_order(Object& object) {
  std::vector<decltype(&*object.begin())> members;
  members.reserve(object.size());
  for (auto& member : object) members.push_back(&member);
  std::ranges::sort(
      members, [](const auto* a, const auto* b) { return canonical_less(a->key(), b->key()); });
  return members;
}

bool fits_segment(const std::optional<std::string>& segment, std::string_view name) {
  return !segment || *segment == name;
}

}  // namespace

class ArgumentWalk {
 public:
  ArgumentWalk(ArgumentTexts& out, std::span<const ArgumentPath> paths) : out_(out) {
    for (const ArgumentPath& path : paths) open_.push_back(path.segments);
    covered_ = paths.empty();
    everything_ = paths.empty();
  }

  void visit(const json::value& value) {
    if (value.is_object()) {
      for (const json::key_value_pair* const member : in_canonical_order(value.get_object())) {
        enter({.parent = place_, .name = member->key(), .member = true}, member->key(),
              member->value());
      }
    } else if (value.is_array()) {
      std::size_t index = 0;
      for (const json::value& item : value.get_array()) {
        enter({.parent = place_, .index = index}, std::to_string(index), item);
        ++index;
      }
    } else {
      visit_leaf(value);
    }
  }

  bool found() const { return found_; }

 private:
  using Rest = std::span<const std::optional<std::string>>;

  void enter(const ArgumentTexts::Place& place, std::string_view name, const json::value& value) {
    const std::size_t above = place_;
    const bool was_covered = covered_;
    std::vector<Rest> was_open = narrow(name);
    out_.places_.push_back(place);
    place_ = out_.places_.size() - 1;
    visit(value);
    place_ = above;
    covered_ = was_covered;
    open_ = std::move(was_open);
  }

  // Narrows the open paths to their rest after this segment, and returns the old ones.
  std::vector<Rest> narrow(std::string_view name) {
    std::vector<Rest> open;
    for (const Rest& rest : open_) {
      if (!fits_segment(rest.front(), name)) continue;
      if (rest.size() > 1) {
        open.push_back(rest.subspan(1));
      } else {
        covered_ = true;
        found_ = true;
      }
    }
    return std::exchange(open_, std::move(open));
  }

  void visit_leaf(const json::value& value) {
    if (value.is_string()) {
      const std::size_t leaf = leaves_++;
      if (covered_) out_.texts_.push_back({value.get_string(), leaf, place_});
    } else if (covered_ && !everything_) {
      out_.written_.push_back(canonical_json(value));
      out_.texts_.push_back({out_.written_.back(), std::nullopt, place_});
    }
  }

  ArgumentTexts& out_;
  std::size_t place_ = 0;
  std::vector<Rest> open_;   // paths that may still end further down
  bool covered_ = false;     // at or below the end of a path
  bool found_ = false;       // some path exists
  bool everything_ = false;  // no paths: other scalars are seen in the whole
  std::size_t leaves_ = 0;
};

ArgumentTexts ArgumentTexts::of(const json::value& value) {
  ArgumentTexts all;
  ArgumentWalk(all, {}).visit(value);
  all.written_.push_back(canonical_json(value));
  all.texts_.push_back({all.written_.back(), std::nullopt, std::nullopt});
  return all;
}

std::optional<ArgumentTexts> ArgumentTexts::at(const json::value& value,
                                               std::span<const ArgumentPath> paths) {
  if (paths.empty()) return std::nullopt;
  ArgumentTexts some;
  ArgumentWalk walk(some, paths);
  walk.visit(value);
  if (!walk.found()) return std::nullopt;
  return some;
}

std::optional<std::string> ArgumentTexts::path(const ArgumentText& text) const {
  if (!text.place) return std::nullopt;
  std::vector<std::size_t> up;
  for (std::size_t at = *text.place; at != 0; at = places_[at].parent) up.push_back(at);
  std::string pointer;
  for (const std::size_t at : up | std::views::reverse) {
    const Place& place = places_[at];
    append_step(pointer, place.member ? place.name : std::to_string(place.index));
  }
  return pointer;
}

namespace {

void replace_leaves(json::value& value, const std::map<std::size_t, std::string>& replacements,
                    std::size_t& leaves) {
  if (value.is_object()) {
    for (json::key_value_pair* const member : in_canonical_order(value.get_object())) {
      replace_leaves(member->value(), replacements, leaves);
    }
  } else if (value.is_array()) {
    for (json::value& item : value.get_array()) replace_leaves(item, replacements, leaves);
  } else if (value.is_string()) {
    const auto found = replacements.find(leaves++);
    if (found != replacements.end()) value = found->second;
  }
}

}  // namespace

json::value with_leaves(const json::value& value,
                        const std::map<std::size_t, std::string>& replacements) {
  json::value out = value;
  std::size_t leaves = 0;
  replace_leaves(out, replacements, leaves);
  return out;
}

}  // namespace sallyport::guardrails
