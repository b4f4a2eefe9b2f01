#include "mcp/message/json_text.h"

#include <algorithm>
#include <boost/json.hpp>

#include "sallyport/json.h"

namespace sallyport::mcp {

namespace {

// Walks over unchecked text. Every step stays inside the text, and a failed step ends the walk.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) { skip_blank(); }

  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    skip_blank();
    return true;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::optional<std::string_view> string() {
    if (peek() != '"') return std::nullopt;
    const std::size_t begin = at_;
    if (!skip_string()) return std::nullopt;
    const std::string_view found = text_.substr(begin, at_ - begin);
    skip_blank();
    return found;
  }

  std::optional<std::string_view> value() {
    const std::size_t begin = at_;
    if (!skip_value() || at_ == begin) return std::nullopt;
    const std::string_view found = text_.substr(begin, at_ - begin);
    skip_blank();
    return found;
  }

 private:
  void skip_blank() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool skip_string() {
    ++at_;
    while (true) {
      at_ = text_.find_first_of("\"\\", at_);
      if (at_ == std::string_view::npos) {
        at_ = text_.size();
        return false;
      }
      if (text_[at_] == '"') {
        ++at_;
        return true;
      }
      at_ = std::min(at_ + 2, text_.size());
    }
  }

  bool skip_value() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!skip_string()) return false;
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
        continue;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return true;
        --depth;
        ++at_;
      } else if (std::string_view(",: \t\n\r").contains(c)) {
        if (depth == 0) return true;
        ++at_;
        continue;
      } else {
        at_ = std::min(text_.find_first_of(" \t\r\n,:{}[]\"", at_), text_.size());
      }
      if (depth == 0) return true;
    }
    return depth == 0;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string decoded(std::string_view name) {
  const std::string_view inner = name.substr(1, name.size() - 2);
  if (inner.find('\\') == std::string_view::npos) return std::string(inner);
  const Result<ParsedJson> parsed = parse_json(name);
  return parsed ? std::string(parsed->value.get_string()) : std::string(inner);
}

// Compares a quoted name with `wanted`. Most other names are excluded without decoding, because
// each search compares every name and a message may have a hundred thousand.
bool name_equals(std::string_view name, std::string_view wanted) {
  const std::string_view inner = name.substr(1, name.size() - 2);
  const std::size_t plain = std::min(inner.find('\\'), inner.size());
  if (plain == inner.size()) return inner == wanted;
  return wanted.starts_with(inner.substr(0, plain)) && inner.size() <= 6 * wanted.size() &&
         decoded(name) == wanted;
}

template <class Visit>  // called with name and value; true continues
void walk_members(std::string_view object, Visit visit) {
  Walk walk(object);
  if (!walk.take('{')) return;
  do {
    const auto name = walk.string();
    if (!name || !walk.take(':')) return;
    const auto value = walk.value();
    if (!value || !visit(*name, *value)) return;
  } while (walk.take(','));
}

}  // namespace

std::vector<std::pair<std::string, std::string_view>> members(std::string_view object) {
  std::vector<std::pair<std::string, std::string_view>> found;
  walk_members(object, [&](std::string_view name, std::string_view value) {
    found.emplace_back(decoded(name), value);
    return true;
  });
  return found;
}

std::optional<std::string_view> find(std::string_view text,
                                     std::initializer_list<std::string_view> path) {
  for (const std::string_view wanted : path) {
    std::optional<std::string_view> found;
    walk_members(text, [&](std::string_view name, std::string_view value) {
      if (name_equals(name, wanted)) found = value;
      return !found;
    });
    if (!found) return std::nullopt;
    text = *found;
  }
  return text;
}

std::vector<std::string_view> values_named(std::string_view name, std::string_view object,
                                           std::size_t most) {
  std::vector<std::string_view> found;
  walk_members(object, [&](std::string_view raw, std::string_view value) {
    if (name_equals(raw, name)) found.push_back(value);
    return --most > 0;
  });
  return found;
}

std::vector<std::string_view> elements(std::string_view array) {
  std::vector<std::string_view> found;
  Walk walk(array);
  if (!walk.take('[')) return found;
  do {
    const auto value = walk.value();
    if (!value) break;
    found.push_back(*value);
  } while (walk.take(','));
  return found;
}

std::string edited(std::string_view text, std::vector<Edit> edits) {
  std::ranges::sort(edits, {}, [](const Edit& edit) { return edit.where.data(); });
  std::string out;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    const auto begin = static_cast<std::size_t>(edit.where.data() - text.data());
    out += text.substr(at, begin - at);
    out += edit.with;
    at = begin + edit.where.size();
  }
  out += text.substr(at);
  return out;
}

std::string with_member(std::string_view object, std::string_view name, std::string_view value) {
  if (const auto there = find(object, {name})) {
    return edited(object, {{*there, std::string(value)}});
  }
  std::string member;
  append_canonical_string(member, name);
  member += ':';
  member += value;
  const std::size_t brace = object.find('{');
  if (brace == std::string_view::npos) return '{' + member + '}';
  if (!members(object).empty()) member += ',';
  return edited(object, {{object.substr(brace + 1, 0), std::move(member)}});
}

std::string without_member(std::string_view object, std::string_view name) {
  std::string out = "{";
  walk_members(object, [&](std::string_view raw, std::string_view value) {
    if (name_equals(raw, name)) return true;
    if (out.size() > 1) out += ',';
    out += raw;
    out += ':';
    out += value;
    return true;
  });
  return out + '}';
}

std::string json_quoted(std::string_view text) {
  std::string out;
  append_canonical_string(out, text);
  return out;
}

json::value exact_value(std::string_view text) {
  Result<ParsedJson> parsed =
      parse_json(text, {.bytes = text.size(), .numbers = Numbers::Exact, .values = text.size()});
  return parsed ? std::move(parsed->value) : json::value(nullptr);
}

}  // namespace sallyport::mcp
