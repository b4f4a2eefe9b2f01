// The patterns of the search: the short fixed part of each detector. Plain code then finds the
// exact span around it. This keeps the search fast and the checks readable.
#pragma once

#include <cstddef>
#include <span>

#include "guards/detect/candidates.h"

namespace sallyport::guards {

struct AnchorPattern {
  Detector detector;
  const char* expression;  // Hyperscan syntax
  bool caseless;
  std::size_t width;  // bytes it spans; 1 where the check only needs to know where it ends
  void (*check)(Candidates& found, Anchor at);
};

std::span<const AnchorPattern> anchor_patterns();

}  // namespace sallyport::guards
