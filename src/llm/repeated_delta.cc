#include "llm/repeated_delta.h"

#include <algorithm>

#include "llm/json_splice.h"
#include "sallyport/json.h"

namespace sallyport::llm {

namespace {

// Is this the inside of a JSON string that says what it means, without escapes?
bool is_plain(std::string_view inside) {
  unsigned char all = 0;
  for (const char c : inside) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '\\' || c == '"') return false;
    all |= byte;
  }
  return all < 0x80 || is_utf8(inside);
}

// The inside of a string that stands in `data`.
std::optional<std::string_view> inside_at(std::string_view data, std::string_view pointer) {
  const std::string_view value = value_at(data, pointer);
  if (value.size() < 2 || value[0] != '"') return std::nullopt;
  const std::string_view inside = value.substr(1, value.size() - 2);
  if (!is_plain(inside)) return std::nullopt;
  return inside;
}

std::size_t place_in(std::string_view data, std::string_view part) {
  return static_cast<std::size_t>(part.data() - data.data());
}

}  // namespace

void RepeatedDelta::learn(std::string_view data, std::string_view pointer,
                          std::string_view padding) {
  if (!may_learn() || data.size() > kLongest) return;
  ++in_vain_;
  before_.clear();
  const auto text = inside_at(data, pointer);
  if (!text) return;
  const std::size_t begin = place_in(data, *text);
  const std::size_t end = begin + text->size();
  padded_ = !padding.empty();
  std::size_t stop = data.size();
  behind_.clear();
  if (padded_) {
    const auto padded = inside_at(data, padding);
    if (!padded || place_in(data, *padded) < end) return;
    stop = place_in(data, *padded);
    behind_ = data.substr(stop + padded->size());
  }
  before_ = data.substr(0, begin);
  between_ = data.substr(end, stop - end);
}

std::optional<std::string_view> RepeatedDelta::text_of(std::string_view data) {
  if (before_.empty() || data.size() > kLongest || !data.starts_with(before_)) return std::nullopt;
  const std::size_t end = std::min(data.find('"', before_.size()), data.size());
  const std::string_view text = data.substr(before_.size(), end - before_.size());
  std::string_view rest = data.substr(end);
  if (!rest.starts_with(between_)) return std::nullopt;
  rest.remove_prefix(between_.size());
  if (padded_) {
    const std::size_t padding = std::min(rest.find('"'), rest.size());
    if (!is_plain(rest.substr(0, padding))) return std::nullopt;
    rest.remove_prefix(padding);
  }
  if (rest != behind_ || text.empty() || !is_plain(text)) return std::nullopt;
  in_vain_ = 0;
  return text;
}

std::string with_text(std::string_view data, std::string_view part, std::string_view text) {
  const std::size_t begin = place_in(data, part);
  std::string out;
  out.reserve(data.size() + text.size() + 16);
  out.append(data.substr(0, begin - 1));
  append_canonical_string(out, text);
  out.append(data.substr(begin + part.size() + 1));
  return out;
}

}  // namespace sallyport::llm
