#include "guardrails/view/view_percent.h"

namespace sallyport::guardrails {

int hex_value(char32_t character) {
  if (character >= '0' && character <= '9') return static_cast<int>(character - '0');
  if (character >= 'a' && character <= 'f') return static_cast<int>(character - 'a' + 10);
  if (character >= 'A' && character <= 'F') return static_cast<int>(character - 'A' + 10);
  return -1;
}

void PercentDecoder::take(const match::Unit& unit, TextSink& sink) {
  if (!escape_.empty() && hex_value(unit.character) < 0) give_up(sink);
  if (escape_.empty() && unit.character != '%') {
    bytes_.flush(sink);
    sink.character(unit);
    return;
  }
  escape_.push_back(unit);
  if (escape_.size() < 3) return;
  const int value = hex_value(escape_[1].character) * 16 + hex_value(escape_[2].character);
  const std::uint64_t begin = escape_[0].begin;
  escape_.clear();
  bytes_.add(static_cast<unsigned char>(value), begin, unit.end, sink);
}

void PercentDecoder::give_up(TextSink& sink) {
  bytes_.flush(sink);
  for (const match::Unit& unit : escape_) sink.character(unit);
  escape_.clear();
}

void PercentDecoder::finish(TextSink& sink) {
  give_up(sink);
  sink.end();
}

void PercentDecoder::reset() {
  escape_.clear();
  bytes_.reset();
}

std::optional<std::uint64_t> PercentDecoder::pending_from() const {
  if (const auto from = bytes_.pending_from()) return from;
  if (escape_.empty()) return std::nullopt;
  return escape_.front().begin;
}

}  // namespace sallyport::guardrails
