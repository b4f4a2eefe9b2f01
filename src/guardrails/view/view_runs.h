// Runs of base64 characters or of hexadecimal digits: each run that is long enough is an encoded
// text of its own. Whether it is shows only at its 16th character; what is decoded until then is
// passed on with that proviso.
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
    Padding,   // behind the run: `=` may still belong to its last group
    Skipping,  // so much of the run was decoded that the rest is not looked at
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
