// Decodes a text character by character, and maps each decoded character to its source bytes
// (GR-39, GR-42).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "guardrails/document/document.h"
#include "match/tracker.h"

namespace sallyport::guardrails {

// Receives a text. A decoder of runs sends one text after another.
class TextSink {
 public:
  virtual ~TextSink() = default;

  virtual void character(const match::Unit& unit) = 0;
  virtual void end() = 0;

  // For runs only. A run begins and may be too short; it is long enough; it was too short.
  virtual void begin_run() = 0;
  virtual void run_counts() = 0;
  virtual void drop_run() = 0;
  // The run is longer than the limit; `end` follows.
  virtual void run_truncated() = 0;
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  virtual void take(const match::Unit& unit, TextSink& sink) = 0;
  // Ends the decoded text. Another one may begin afterwards.
  virtual void finish(TextSink& sink) = 0;
  virtual void reset() = 0;
  // The start of the incomplete unit.
  virtual std::optional<std::uint64_t> pending_from() const = 0;
};

// At most this many bytes are decoded from one run (GR-40).
inline constexpr std::uint64_t kMostDecodedOfARun = 1 << 20;
// Shorter runs are not treated as encoded text (GR-39).
inline constexpr std::uint64_t kShortestRun = 16;

// `view` is one of percent, json, base64 and hex.
std::unique_ptr<Decoder> make_decoder(View view);

}  // namespace sallyport::guardrails
