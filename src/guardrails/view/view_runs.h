// Decodes runs of base64 characters or hexadecimal digits. Each run that is long enough is a
// separate text. The first 15 characters are decoded provisionally: only the 16th makes it long
// enough.
#pragma once

#include "guardrails/view/view_bytes.h"
#include "guardrails/view/view_decoder.h"

namespace sallyport::guardrails {

class RunDecoder final : public Decoder {
 public:
  enum class Kind : std::uint8_t { Base64, Hex };

  explicit RunDecoder(Kind kind) : kind_(kind) {}

  void take(const match::Unit& unit, TextSink& sink) override;
  void finish(TextSink& sink) override;
  void reset() override;
  std::optional<std::uint64_t> pending_from() const override;

 private:
  enum class State : std::uint8_t {
    Outside,
    Inside,
    Padding,   // after the run: `=` may still belong to its last group
    Skipping,  // the limit of decoded bytes is reached; the rest of the run is ignored
  };

  int value_of(char32_t character) const;
  std::uint64_t group_size() const { return kind_ == Kind::Base64 ? 4 : 2; }
  void add(const match::Unit& unit, int value, TextSink& sink);
  void emit_group(TextSink& sink);
  void end_run(TextSink& sink);

  Kind kind_;
  State state_ = State::Outside;
  std::uint64_t length_ = 0;   // characters of the run
  std::uint64_t decoded_ = 0;  // bytes
  // The group that is being read.
  std::uint64_t digits_ = 0;
  std::uint64_t padding_ = 0;
  std::uint32_t bits_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  ViewBytes bytes_;
};

}  // namespace sallyport::guardrails
