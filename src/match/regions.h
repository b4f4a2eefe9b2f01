// Redacted spans of a text. Overlapping spans are merged into one region, touching ones are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "match/pattern_set.h"

namespace sallyport::match {

struct Region {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::vector<std::uint32_t> rules{};  // all with a span in it, sorted
  Match first{};                       // the span that starts first
};

// Regions in the order of the text.
class Regions {
 public:
  // Fast if spans come nearly in order.
  void add(const Match& span);
  // Adds the regions of another search of the same text.
  void add(const Regions& other);
  void drop_first(std::size_t count);
  void clear() { all_.clear(); }

  const std::vector<Region>& all() const { return all_; }
  std::size_t bytes() const { return all_.capacity() * sizeof(Region); }

 private:
  void append(const Region& next);

  std::vector<Region> all_;
};

}  // namespace sallyport::match
