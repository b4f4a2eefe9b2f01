#include "base/json_for_people.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/visible_text.h"

namespace sallyport {

namespace {

constexpr std::size_t kHead = 1500;
constexpr std::size_t kTail = 500;

std::string cut_text(std::string_view text, std::string_view whole) {
  if (text.size() <= kHead + kTail + 100) return std::string(text);
  const std::string head = cut_utf8_bytes(std::string(text), kHead);
  std::size_t tail = text.size() - kTail;
  while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xC0) == 0x80) ++tail;
  return fmt::format("{} [... {} bytes left out, {} shows them ...] {}", head, tail - head.size(),
                     whole, text.substr(tail));
}

// JSON for reading: hidden characters in strings are made visible, which plain JSON does not do
// (AP-39).
void append_string(std::string& out, std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  out += '"' + visible(escaped) + '"';
}

enum class Layout { OneLine, Lines, LinesOfTexts };

class JsonForPeople {
 public:
  explicit JsonForPeople(Layout layout)
      : lines_(layout != Layout::OneLine), breaks_(layout == Layout::LinesOfTexts) {}

  void append(const json::value& value, std::size_t indent) {
    if (const json::object* const object = value.if_object()) {
      const Bracket bracket(*this, object->empty(), '{', '}', indent);
      for (const json::key_value_pair& pair : *object) {
        next(pair.key() != object->begin()->key(), indent);
        append_string(out_, pair.key());
        out_ += lines_ ? ": " : ":";
        append(pair.value(), indent + 2);
      }
    } else if (const json::array* const array = value.if_array()) {
      const Bracket bracket(*this, array->empty(), '[', ']', indent);
      for (const json::value& item : *array) {
        next(&item != &array->front(), indent);
        append(item, indent + 2);
      }
    } else if (value.is_string()) {
      append_text(value.get_string(), indent);
    } else {
      append_canonical_json(out_, value);
    }
  }

  std::string take() { return std::move(out_); }

 private:
  struct Bracket {
    Bracket(JsonForPeople& text, bool empty, char open, char close, std::size_t indent)
        : text(text), empty(empty), close(close), indent(indent) {
      text.out_ += open;
    }
    Bracket(const Bracket&) = delete;
    ~Bracket() {
      if (!empty) text.line(indent);
      text.out_ += close;
    }
    JsonForPeople& text;
    bool empty;
    char close;
    std::size_t indent;
  };

  void append_text(std::string_view text, std::size_t indent) {
    // A single line break at the end does not make a multi-line text.
    if (!breaks_ || text.substr(0, text.size() - 1).find('\n') == std::string_view::npos) {
      return append_string(out_, text);
    }
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      line(indent);
      out_ += "| " + visible(text.substr(at, end - at));
      at = end + 1;
    }
  }
  void line(std::size_t indent) {
    if (lines_) out_.append("\n").append(indent, ' ');
  }
  void next(bool comma, std::size_t indent) {
    if (comma) out_ += ',';
    line(indent + 2);
  }

  bool lines_;
  bool breaks_;
  std::string out_;
};

}  // namespace

std::string pretty_json(const json::value& value, std::size_t indent) {
  JsonForPeople text(Layout::Lines);
  text.append(value, indent);
  return text.take();
}

std::string json_in_lines(const json::value& value, std::size_t indent) {
  JsonForPeople text(Layout::LinesOfTexts);
  text.append(value, indent);
  return text.take();
}

std::string compact_json(const json::value& value) {
  JsonForPeople text(Layout::OneLine);
  text.append(value, 0);
  return text.take();
}

json::value with_long_texts_cut(const json::value& value, std::string_view whole) {
  if (value.is_string()) return json::value(cut_text(value.get_string(), whole));
  if (const json::array* const array = value.if_array()) {
    json::array all;
    for (const json::value& item : *array) all.push_back(with_long_texts_cut(item, whole));
    return all;
  }
  if (const json::object* const object = value.if_object()) {
    json::object all;
    for (const json::key_value_pair& pair : *object)
      all[pair.key()] = with_long_texts_cut(pair.value(), whole);
    return all;
  }
  return value;
}

}  // namespace sallyport
