#include "llm/json_splice.h"

#include <algorithm>

#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

std::size_t end_of_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

std::size_t end_of_value(std::string_view text, std::size_t at) {
  if (at >= text.size()) return at;
  if (text[at] == '"') return end_of_string(text, at);
  if (text[at] != '{' && text[at] != '[') {
    while (at < text.size() && !is_space(text[at]) && text[at] != ',' && text[at] != '}' &&
           text[at] != ']') {
      ++at;
    }
    return at;
  }
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      continue;
    }
    ++at;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) break;
  }
  return at;
}

// The decoded name of a member, as `read_wire_json` reads it: otherwise no pointer leads to it.
std::string name_of(std::string_view quoted) {
  if (quoted.size() >= 2 && quoted.find('\\') == std::string_view::npos) {
    return std::string(quoted.substr(1, quoted.size() - 2));
  }
  const Result<ParsedJson> name = read_wire_json(quoted);
  return name && name->value.is_string() ? std::string(name->value.get_string()) : std::string();
}

// Calls `child(name, value)` for each member or element; elements have no name.
template <class F>
void each_child(std::string_view text, F child) {
  if (text.empty() || (text[0] != '{' && text[0] != '[')) return;
  const bool object = text[0] == '{';
  std::size_t at = end_of_space(text, 1);
  while (at < text.size() && text[at] != '}' && text[at] != ']') {
    std::string_view name;
    if (object) {
      const std::size_t end = end_of_string(text, at);
      name = text.substr(at, end - at);
      at = end_of_space(text, end_of_space(text, end) + 1);
    }
    const std::size_t end = end_of_value(text, at);
    if (!child(name, text.substr(std::min(at, text.size()), end - at))) return;
    at = end_of_space(text, end);
    if (at < text.size() && text[at] == ',') at = end_of_space(text, at + 1);
  }
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out;
  append_canonical_string(out, text);
  return out;
}

void Splice::replace(std::string pointer, std::string json) {
  edits_[std::move(pointer)].push_back({Kind::Replace, std::move(json)});
}

void Splice::remove(std::string pointer) {
  edits_[std::move(pointer)].push_back({Kind::Remove, {}});
}

void Splice::append(std::string pointer, std::string json) {
  edits_[std::move(pointer)].push_back({Kind::Append, std::move(json)});
}

void Splice::wrap(std::string pointer, std::string before, std::string after) {
  edits_[std::move(pointer)].push_back({Kind::Wrap, std::move(before), std::move(after)});
}

// One pass over a valid JSON text. `pointer_` is the path of the current value.
class Splicer {
 public:
  Splicer(const std::map<std::string, std::vector<Splice::Edit>, std::less<>>& edits,
          std::string_view text)
      : edits_(edits), text_(text) {
    out_.reserve(text.size() + 64);
  }

  // The replacements that had a place, and those that a value took with it.
  std::size_t placed() const { return placed_; }

  static bool replaces(const std::vector<Splice::Edit>& edits) {
    return std::ranges::find(edits, Kind::Replace, &Splice::Edit::kind) != edits.end();
  }

  std::string run() {
    out_ += take_space();
    value(find());
    out_ += text_.substr(at_);
    return std::move(out_);
  }

 private:
  using Kind = Splice::Kind;

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  // Takes the white space at the current place.
  std::string_view take_space() {
    const std::size_t begin = at_;
    while (is_space(peek())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void copy(std::size_t until) {
    out_ += text_.substr(at_, until - at_);
    at_ = until;
  }

  // The edits of the current value.
  struct Found {
    const std::vector<Splice::Edit>* here = nullptr;  // null: none
    bool below = false;                               // there may be some below it
  };

  Found find() {
    const auto next = edits_.lower_bound(pointer_);
    if (next == edits_.end() || !next->first.starts_with(pointer_)) return {};
    if (next->first.size() == pointer_.size()) {
      if (replaces(next->second)) ++placed_;
      return {&next->second, true};
    }
    // Paths that sort between `/a` and `/a/` belong to other members, such as `/a-b`.
    pointer_ += '/';
    const auto child = edits_.lower_bound(pointer_);
    const bool below = child != edits_.end() && child->first.starts_with(pointer_);
    pointer_.pop_back();
    return {nullptr, below};
  }

  // Null: there is no edit of this kind.
  static const Splice::Edit* of_kind(const Found& found, Kind kind) {
    if (found.here == nullptr) return nullptr;
    const auto edit = std::ranges::find(*found.here, kind, &Splice::Edit::kind);
    return edit == found.here->end() ? nullptr : &*edit;
  }

  void value(const Found& found) {
    const Splice::Edit* const wrap = of_kind(found, Kind::Wrap);
    if (wrap != nullptr) out_ += wrap->json;
    const bool opens = peek() == '{' || peek() == '[';
    if (const Splice::Edit* const edit = of_kind(found, Kind::Replace)) {
      at_ = end_of_value(text_, at_);
      out_ += edit->json;
      place_below();
    } else if (opens && found.below) {
      container(peek() == '{', found);
    } else {
      copy(end_of_value(text_, at_));
    }
    if (wrap != nullptr) out_ += wrap->after;
  }

  // Edits below a value that goes have nothing to change.
  void place_below() {
    const std::string prefix = pointer_ + '/';
    for (auto edit = edits_.lower_bound(prefix);
         edit != edits_.end() && edit->first.starts_with(prefix); ++edit) {
      if (replaces(edit->second)) ++placed_;
    }
  }

  // Removes a child with its white space and one comma. The others keep theirs.
  void container(bool object, const Found& of_all) {
    out_ += text_[at_++];
    bool any = false;  // a child is in the output
    std::string_view space = take_space();
    for (std::size_t index = 0; at_ < text_.size() && peek() != '}' && peek() != ']'; ++index) {
      const std::size_t length = pointer_.size();
      enter(object, index);
      const Found found = find();
      if (of_kind(found, Kind::Remove) != nullptr) {
        skip_child(object);
        take_space();
        place_below();
      } else {
        if (any) out_ += ',';
        out_ += space;
        child(object, found);
        out_ += take_space();
        any = true;
      }
      pointer_.resize(length);
      if (peek() == ',') {
        ++at_;
        space = take_space();
      } else {
        space = {};
      }
    }
    if (!any) out_ += space;
    add_behind(of_all, any);
    if (at_ < text_.size()) out_ += text_[at_++];
  }

  void enter(bool object, std::size_t index) {
    if (!object) return append_step(pointer_, std::to_string(index));
    const std::size_t end = end_of_string(text_, at_);
    append_step(pointer_, name_of(text_.substr(at_, end - at_)));
  }

  void child(bool object, const Found& found) {
    if (object) {
      copy(end_of_string(text_, at_));
      out_ += take_space();
      if (at_ < text_.size()) out_ += text_[at_++];  // the colon
      out_ += take_space();
    }
    value(found);
  }

  void skip_child(bool object) {
    if (object) {
      at_ = end_of_string(text_, at_);
      take_space();
      if (at_ < text_.size()) ++at_;  // the colon
      take_space();
    }
    at_ = end_of_value(text_, at_);
  }

  void add_behind(const Found& found, bool any) {
    if (found.here == nullptr) return;
    for (const Splice::Edit& edit : *found.here) {
      if (edit.kind != Kind::Append) continue;
      if (any) out_ += ',';
      out_ += edit.json;
      any = true;
    }
  }

  const std::map<std::string, std::vector<Splice::Edit>, std::less<>>& edits_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t placed_ = 0;
  std::string out_;
  std::string pointer_;
};

std::string_view value_at(std::string_view text, std::string_view pointer) {
  const std::size_t begin = end_of_space(text, 0);
  text = text.substr(begin, end_of_value(text, begin) - begin);
  while (!pointer.empty() && !text.empty()) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string_view step = pointer.substr(0, end);
    pointer.remove_prefix(end);
    const bool object = text[0] == '{';
    std::string_view found;
    std::size_t index = 0;
    each_child(text, [&](std::string_view name, std::string_view value) {
      const bool here = (object ? pointer_to("", name_of(name)) : pointer_to("", index)) == step;
      if (here) found = value;
      ++index;
      return !here;
    });
    text = found;
  }
  return text;
}

std::vector<std::string_view> elements_of(std::string_view array) {
  std::vector<std::string_view> elements;
  array.remove_prefix(end_of_space(array, 0));
  if (!array.starts_with('[')) return elements;
  each_child(array, [&](std::string_view, std::string_view value) {
    elements.push_back(value);
    return true;
  });
  return elements;
}

bool Splice::fits(std::string_view text) const {
  if (empty()) return true;
  Splicer splicer(edits_, text);
  (void)splicer.run();
  return splicer.placed() ==
         static_cast<std::size_t>(std::ranges::count_if(
             edits_, [](const auto& edit) { return Splicer::replaces(edit.second); }));
}

std::string Splice::applied(std::string_view text) const {
  return empty() ? std::string(text) : Splicer(edits_, text).run();
}

}  // namespace sallyport::llm
