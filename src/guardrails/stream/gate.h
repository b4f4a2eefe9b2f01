// Interface: checks one stream of text, and says what may be released now, what is redacted, and what
// was found. `StreamGate` implements it with `match::Stream`. One caller at a time owns it.
//
//   auto gate = guardrails->arm(Stage::Output, std::nullopt);
//   Passed first = *gate->push("key is AKIAIOSF");   // first.text() == "key is "
//   Passed next = *gate->push("ODNN7EXAMPLE ok");    // next.block->start == 7
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/one_or_more.h"
#include "guardrails/check/guardrails.h"
#include "sallyport/result.h"

namespace sallyport::guardrails {

// Decided source bytes [start, end): text to pass on, or a region with its replacement.
struct Piece {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::string text{};
  std::vector<std::size_t> checks{};  // sorted, all with a span in it; empty for plain text
};

struct Passed {
  OneOrMore<Piece> pieces{};   // in source order, without gaps
  std::vector<Hit> logs{};     // in the order in which they became certain
  std::optional<Hit> block{};  // nothing follows it

  // The text that the client sees, including the replacement of a block.
  std::string text() const;
};

class TextGate {
 public:
  virtual ~TextGate() = default;

  // Returns nothing after a block, and `Conflict` after `finish`.
  virtual Result<Passed> push(std::string_view delta) = 0;
  virtual Result<Passed> finish() = 0;

  virtual std::uint64_t bytes_in() const = 0;
  virtual std::uint64_t held() const = 0;  // 0 after a block
  virtual std::uint64_t invalid_utf8() const = 0;
  virtual std::vector<Coverage> coverage() const = 0;
  virtual std::size_t state_bytes() const = 0;  // besides held text
};

}  // namespace sallyport::guardrails
