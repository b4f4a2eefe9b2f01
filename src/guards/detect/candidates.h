// The matches of one scan before overlaps are resolved. Used by one scan on one thread.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "guards/detect/detector_table.h"

namespace sallyport::guards {

// A match: bytes [begin, end) of the text.
struct Hit {
  std::size_t begin = 0;
  std::size_t end = 0;
  Detector detector = Detector::AwsAccessKeyId;

  std::size_t size() const { return end - begin; }
  bool operator==(const Hit&) const = default;
};

// Sorts hits, resolves overlaps: the longest wins, then the first in the table, then the leftmost.
std::vector<Hit> settled(std::vector<Hit> hits);

// The place of the fixed part of a detector: bytes [begin, end).
struct Anchor {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Candidates {
 public:
  explicit Candidates(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }

  void add(Detector detector, std::size_t begin, std::size_t end) {
    hits_.push_back(Hit{begin, end, detector});
  }

  // True if a detector has already read the text around this place. It need not read it again from
  // an anchor inside: a match from there is a part of the first match, or fails for the same
  // reason. This keeps `sk-sk-sk-...` linear.
  bool examined(Detector detector, std::size_t at) const {
    const Stretch& stretch = examined_[index_of(detector)];
    return at >= stretch.begin && at < stretch.end;
  }
  void set_examined(Detector detector, std::size_t begin, std::size_t end) {
    examined_[index_of(detector)] = Stretch{begin, end};
  }

  std::vector<Hit> settle() &&;

 private:
  struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  std::string_view text_;
  std::vector<Hit> hits_;
  std::array<Stretch, kDetectorCount> examined_{};
};

}  // namespace sallyport::guards
