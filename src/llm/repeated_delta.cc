#include "llm/repeated_delta.h"

#include <algorithm>
#include <utility>

#include "llm/json_splice.h"
#include "sallyport/json.h"

namespace sallyport::llm {

namespace {

constexpr std::size_t kMostDigits = 15;  // any such number is held exactly

// True for the inside of a JSON string without escapes.
bool is_plain(std::string_view inside) {
  unsigned char all = 0;
  for (const char c : inside) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '\\' || c == '"') return false;
    all |= byte;
  }
  return all < 0x80 || is_utf8(inside);
}

bool is_whole(std::string_view number) {
  return !number.empty() && number.size() <= kMostDigits &&
         number.find_first_not_of("0123456789") == number.npos &&
         (number.size() == 1 || number[0] != '0');
}

std::size_t place_in(std::string_view data, std::string_view part) {
  return static_cast<std::size_t>(part.data() - data.data());
}

}  // namespace

void RepeatedDelta::learn(std::string_view data, const Places& places) {
  if (!may_learn() || data.size() > kLongest) return;
  ++in_vain_;
  holes_.clear();
  std::vector<std::pair<std::string_view, Kind>> values;
  for (const auto& [pointer, kind] :
       {std::pair(places.text, Kind::Text), std::pair(places.padding, Kind::Padding),
        std::pair(places.number, Kind::Number)}) {
    if (pointer.empty()) continue;
    std::string_view value = value_at(data, pointer);
    if (kind != Kind::Number && value.size() >= 2) value = value.substr(1, value.size() - 2);
    if (kind == Kind::Number ? !is_whole(value) : !is_plain(value)) return;
    values.emplace_back(value, kind);
  }
  std::ranges::sort(values, {}, [](const auto& value) { return value.first.data(); });
  std::size_t at = 0;
  for (const auto& [value, kind] : values) {
    const std::size_t begin = place_in(data, value);
    holes_.push_back({std::string(data.substr(at, begin - at)), kind});
    at = begin + value.size();
  }
  behind_ = data.substr(at);
}

std::optional<RepeatedDelta::Delta> RepeatedDelta::read(std::string_view data) {
  if (holes_.empty() || data.size() > kLongest) return std::nullopt;
  Delta delta;
  std::string_view rest = data;
  for (const Hole& hole : holes_) {
    if (!rest.starts_with(hole.before)) return std::nullopt;
    rest.remove_prefix(hole.before.size());
    const bool number = hole.kind == Kind::Number;
    const std::size_t end =
        std::min(number ? rest.find_first_not_of("0123456789") : rest.find('"'), rest.size());
    const std::string_view value = rest.substr(0, end);
    if (number ? !is_whole(value) : !is_plain(value)) return std::nullopt;
    if (number) delta.number = value;
    if (hole.kind == Kind::Text) delta.text = value;
    rest.remove_prefix(end);
  }
  if (rest != behind_ || delta.text.empty()) return std::nullopt;
  in_vain_ = 0;
  return delta;
}

std::string with_text(std::string_view data, const RepeatedDelta::Delta& delta,
                      std::string_view text, std::string_view number) {
  std::string out;
  out.reserve(data.size() + text.size() + 32);
  const std::size_t text_at = place_in(data, delta.text) - 1;  // its quote
  const std::size_t number_at = number.empty() ? data.size() : place_in(data, delta.number);
  std::size_t at = 0;
  const auto put_text = [&] {
    out.append(data.substr(at, text_at - at));
    append_canonical_string(out, text);
    at = text_at + delta.text.size() + 2;
  };
  if (text_at < number_at) put_text();
  if (!number.empty()) {
    out.append(data.substr(at, number_at - at)).append(number);
    at = number_at + delta.number.size();
  }
  if (number_at < text_at) put_text();
  out.append(data.substr(at));
  return out;
}

}  // namespace sallyport::llm
