// `%41` becomes `A`. Escapes are bytes of UTF-8; a `%` that is no escape stays, and so does `+`.
#pragma once

#include <vector>

#include "guardrails/view/view_bytes.h"
#include "guardrails/view/view_decoder.h"

namespace sallyport::guardrails {

class PercentDecoder final : public Decoder {
 public:
  void take(const match::Unit& unit, TextSink& sink) override;
  void finish(TextSink& sink) override;
  void reset() override;
  std::optional<std::uint64_t> pending_from() const override;

 private:
  void give_up(TextSink& sink);

  std::vector<match::Unit> escape_;  // what is there of one: `%` and perhaps a digit
  ViewBytes bytes_;
};

// Of a hexadecimal digit; -1 for any other character.
int hex_value(char32_t character);

}  // namespace sallyport::guardrails
