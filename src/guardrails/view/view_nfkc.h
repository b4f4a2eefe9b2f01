// Unicode NFKC of a text that comes character by character. A normalisation segment, which may
// compose with later characters, is kept until it is complete.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "match/tracker.h"

namespace sallyport::guardrails {

class Composer {
 public:
  // Adds the characters of segments that are complete.
  void take(const match::Unit& unit, std::vector<match::Unit>& out);
  // The text ends here.
  void flush(std::vector<match::Unit>& out);
  void reset() { segment_.clear(); }
  std::optional<std::uint64_t> pending_from() const;

 private:
  // A text without boundaries (marks upon marks) is cut, so that its segments stay small.
  static constexpr std::size_t kLongestSegment = 1024;

  std::vector<match::Unit> segment_;
};

}  // namespace sallyport::guardrails
