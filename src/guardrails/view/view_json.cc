#include "guardrails/view/view_json.h"

#include <string_view>
#include <utility>

#include "guardrails/view/view_percent.h"
#include "match/utf8.h"

namespace sallyport::guardrails {

namespace {

constexpr std::size_t kEscape = 6;  // characters of \uXXXX

bool is_high(char32_t value) {
  return value >= 0xD800 && value < 0xDC00;
}
bool is_low(char32_t value) {
  return value >= 0xDC00 && value < 0xE000;
}

}  // namespace

void JsonDecoder::take(const match::Unit& unit, TextSink& sink) {
  if (escape_.empty() && unit.character != '\\') return sink.character(unit);
  escape_.push_back(unit);
  const std::size_t size = escape_.size();
  if (size == 2) {
    read_short(sink);
  } else if (size > 2 && size <= kEscape) {
    read_long(sink);
  } else if (size > kEscape) {
    read_second(sink);
  }
}

void JsonDecoder::read_short(TextSink& sink) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  const char32_t name = escape_[1].character;
  if (name == 'u') return;
  const std::size_t place = name < 0x80 ? kNames.find(static_cast<char>(name)) : kNames.npos;
  if (place == kNames.npos) return give_up(sink);
  emit(static_cast<unsigned char>(kValues[place]), sink);
}

void JsonDecoder::read_long(TextSink& sink) {
  if (hex_value(escape_.back().character) < 0) return give_up(sink);
  if (escape_.size() < kEscape || is_high(value(0))) return;
  emit(is_low(value(0)) ? match::kReplacementCharacter : value(0), sink);
}

void JsonDecoder::read_second(TextSink& sink) {
  const char32_t last = escape_.back().character;
  const std::size_t place = escape_.size() - kEscape - 1;
  const bool fits = place == 0 ? last == '\\' : place == 1 ? last == 'u' : hex_value(last) >= 0;
  if (!fits) return give_up(sink);
  if (escape_.size() < 2 * kEscape) return;
  const char32_t second = value(kEscape);
  if (!is_low(second)) return give_up(sink);
  emit(0x10000 + ((value(0) - 0xD800) << 10) + (second - 0xDC00), sink);
}

char32_t JsonDecoder::value(std::size_t from) const {
  char32_t value = 0;
  for (std::size_t i = from + 2; i < from + kEscape; ++i) {
    value = value * 16 + static_cast<char32_t>(hex_value(escape_[i].character));
  }
  return value;
}

void JsonDecoder::emit(char32_t character, TextSink& sink) {
  const match::Unit unit{character, escape_.front().begin, escape_.back().end};
  escape_.clear();
  sink.character(unit);
}

void JsonDecoder::give_up(TextSink& sink) {
  const std::vector<match::Unit> units = std::exchange(escape_, {});
  std::size_t rest = 1;
  if (units.size() >= kEscape && units[1].character == 'u' && hex_value(units[5].character) >= 0) {
    rest = kEscape;  // one half of a pair, whole
    sink.character({match::kReplacementCharacter, units[0].begin, units[kEscape - 1].end});
  } else {
    sink.character(units[0]);
  }
  for (; rest < units.size(); ++rest) take(units[rest], sink);
}

void JsonDecoder::finish(TextSink& sink) {
  while (!escape_.empty()) give_up(sink);
  sink.end();
}

std::optional<std::uint64_t> JsonDecoder::pending_from() const {
  if (escape_.empty()) return std::nullopt;
  return escape_.front().begin;
}

}  // namespace sallyport::guardrails
