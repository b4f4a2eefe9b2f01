#include "effects/glob.h"

#include <algorithm>

namespace sallyport::effects {

namespace {

constexpr std::size_t kMostLetters = 512;

}  // namespace

bool has_glob(std::string_view text, std::string_view active) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (active[i] != 0 && (text[i] == '*' || text[i] == '?' || text[i] == '[')) return true;
  }
  return false;
}

std::optional<GlobSegment> GlobSegment::read(std::string_view text, std::string_view active) {
  if (text.size() > kMostLetters) return std::nullopt;
  GlobSegment out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    Item item{.letter = c};
    if (active[i] != 0 && c == '*') {
      item.kind = Item::Kind::Star;
    } else if (active[i] != 0 && c == '?') {
      item.kind = Item::Kind::Any;
    } else if (active[i] != 0 && c == '[') {
      std::size_t at = i + 1;
      item.negated = at < text.size() && active[at] != 0 && (text[at] == '!' || text[at] == '^');
      if (item.negated) ++at;
      const std::size_t close = text.find(']', at);
      if (close == at) return std::nullopt;
      if (close == std::string_view::npos) {
        out.items_.push_back({.letter = c});
        continue;
      }
      item.kind = Item::Kind::Set;
      item.set = std::string(text.substr(at, close - at));
      // With ranges, classes or quotes the set is uncertain, for example by locale.
      if (item.set.find_first_of("-[\\") != std::string::npos) return std::nullopt;
      for (std::size_t k = at; k <= close; ++k) {
        if (active[k] == 0) return std::nullopt;
      }
      i = close;
    }
    out.literal_ = out.literal_ && item.kind == Item::Kind::Letter;
    out.items_.push_back(std::move(item));
  }
  return out;
}

std::string GlobSegment::text() const {
  std::string out;
  for (const Item& item : items_) out += item.letter;
  return out;
}

bool GlobSegment::matches_item(const Item& item, char c) const {
  switch (item.kind) {
    case Item::Kind::Letter:
      return item.letter == c;
    case Item::Kind::Set:
      return (item.set.find(c) != std::string::npos) != item.negated;
    default:
      return true;
  }
}

bool GlobSegment::matches(std::string_view name) const {
  // Only a dot matches a dot at the start.
  if (name.starts_with('.') && (items_.empty() || items_[0].kind != Item::Kind::Letter)) {
    return false;
  }
  std::size_t item = 0;
  std::size_t at = 0;
  std::size_t star = items_.size();
  std::size_t star_at = 0;
  while (at < name.size()) {
    if (item < items_.size() && items_[item].kind == Item::Kind::Star) {
      star = item++;
      star_at = at;
    } else if (item < items_.size() && matches_item(items_[item], name[at])) {
      ++item;
      ++at;
    } else if (star < items_.size()) {
      item = star + 1;
      at = ++star_at;
    } else {
      return false;
    }
  }
  while (item < items_.size() && items_[item].kind == Item::Kind::Star) ++item;
  return item == items_.size();
}

}  // namespace sallyport::effects
