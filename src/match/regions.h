// Redacted spans of a text, merged: overlapping ones become one region, touching ones do not.
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

// In the order of the text.
class Regions {
 public:
  // Cheap where spans come nearly in order.
  void add(const Match& span);
  // Those of another search of the same text.
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
