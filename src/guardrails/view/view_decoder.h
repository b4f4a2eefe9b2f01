// Makes one text out of another, character by character, and says for each character of the new
// text which source bytes it came from (GR-39, GR-42).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "guardrails/document/document.h"
#include "match/tracker.h"

namespace sallyport::guardrails {

// Receives a text, or, of a decoder of runs, one text after another.
class TextSink {
 public:
  virtual ~TextSink() = default;

  virtual void character(const match::Unit& unit) = 0;
  virtual void end() = 0;

  // Of runs only. A run begins, and may turn out to be too short; it is long enough; it was not.
  virtual void begin_run() = 0;
  virtual void run_counts() = 0;
  virtual void drop_run() = 0;
  // The run is longer than may be decoded; `end` follows.
  virtual void run_truncated() = 0;
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  virtual void take(const match::Unit& unit, TextSink& sink) = 0;
  // The text that is decoded ends. Afterwards another one may begin.
  virtual void finish(TextSink& sink) = 0;
  virtual void reset() = 0;
  // Where the unit begins that is not yet complete.
  virtual std::optional<std::uint64_t> pending_from() const = 0;
};

// At most this many bytes are decoded from one run (GR-40).
inline constexpr std::uint64_t kMostDecodedOfARun = 1 << 20;
// Shorter runs are no encoded text (GR-39).
inline constexpr std::uint64_t kShortestRun = 16;

// One of percent, json, base64 and hex.
std::unique_ptr<Decoder> make_decoder(View view);

}  // namespace sallyport::guardrails
