// Classes of characters that no pattern of a program distinguishes. Automata step by class.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "match/char_set.h"
#include "match/image.h"

namespace sallyport::match {

// The kinds of neighbours that assertions distinguish. `Edge` is the start or the end of the text.
enum class Neighbour : std::uint8_t { Edge, Newline, Word, WordPart, Other };
inline constexpr unsigned kNeighbours = 5;

class CharClasses {
 public:
  CharClasses() = default;
  // Without `whole_words`, `WordPart` is treated as `Other`.
  CharClasses(const std::vector<CharSet>& sets, bool whole_words);

  std::uint32_t of(char32_t character) const {
    return character < near_.size() ? near_[character] : of_far(character);
  }
  bool contains(std::uint32_t set, std::uint32_t character_class) const {
    const std::size_t bit = std::size_t{character_class} * set_count_ + set;
    return (bits_[bit / 64] >> (bit % 64)) & 1;
  }
  Neighbour neighbour(std::uint32_t character_class) const { return neighbours_[character_class]; }
  std::size_t count() const { return neighbours_.size(); }
  std::size_t sets() const { return set_count_ - kNeighbours; }  // without those of neighbours

  void write(ImageWriter& out) const;
  // No value: not an image of classes.
  static std::optional<CharClasses> read(ImageReader& in);

  // The neighbours (one bit each) that have a character in the set.
  static unsigned neighbours_in(const CharSet& set);

 private:
  static constexpr char32_t kNear = 0x3000;

  std::uint32_t of_far(char32_t character) const;
  std::uint32_t add_class(const std::vector<bool>& active);
  void read_near(ImageReader& in);
  void read_far(ImageReader& in);

  std::vector<std::uint32_t> near_;  // direct, for the scripts of most texts
  std::vector<CharRange> far_;       // the rest: where a run begins, and its class in `last`
  std::vector<Neighbour> neighbours_;
  std::vector<std::uint64_t> bits_;
  std::size_t set_count_ = 0;
};

}  // namespace sallyport::match
