// `%41` becomes `A`. Escapes are bytes of UTF-8. `+`, and a `%` that is not an escape, stay.
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

  std::vector<match::Unit> escape_;  // the part of an escape: `%` and perhaps a digit
  ViewBytes bytes_;
};

// The value of a hexadecimal digit; -1 for any other character.
int hex_value(char32_t character);

}  // namespace sallyport::guardrails
