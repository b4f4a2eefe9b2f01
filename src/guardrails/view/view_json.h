// Decodes the escapes of JSON strings at all places. Surrogate pairs are joined, a lone surrogate
// is U+FFFD, any other backslash stays (GR-86).
#pragma once

#include <vector>

#include "guardrails/view/view_decoder.h"

namespace sallyport::guardrails {

class JsonDecoder final : public Decoder {
 public:
  void take(const match::Unit& unit, TextSink& sink) override;
  void finish(TextSink& sink) override;
  void reset() override { escape_.clear(); }
  std::optional<std::uint64_t> pending_from() const override;

 private:
  void read_short(TextSink& sink);
  void read_long(TextSink& sink);
  void read_second(TextSink& sink);
  void emit(char32_t character, TextSink& sink);
  // Passes on the part of the escape that is valid, and reads the rest as text again.
  void give_up(TextSink& sink);
  char32_t value(std::size_t from) const;

  std::vector<match::Unit> escape_;  // the part of an escape, or of two that may be a pair
};

}  // namespace sallyport::guardrails
