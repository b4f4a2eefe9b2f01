// What one scan has found so far, before overlaps are settled. A value of one scan on one thread.
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

// Sorted and free of overlaps: the longest wins, then the first of the table, then the leftmost.
std::vector<Hit> settled(std::vector<Hit> hits);

// Where the pattern search saw the fixed part of a detector: bytes [begin, end).
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

  // A stretch that a detector has read to its end needs no second reading from an anchor inside it.
  // This is what keeps `sk-sk-sk-...` linear: whatever could match from there is a part of what was
  // matched, or fails for the same reason.
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
