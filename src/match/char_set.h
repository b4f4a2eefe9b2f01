// A set of Unicode characters: those that one place of a pattern accepts.
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace sallyport::match {

inline constexpr char32_t kLastCharacter = 0x10FFFF;

struct CharRange {
  char32_t first;
  char32_t last;

  bool operator==(const CharRange&) const = default;
  auto operator<=>(const CharRange&) const = default;
};

// Sorted ranges that neither overlap nor touch, so that equal sets compare equal.
class CharSet {
 public:
  CharSet() = default;
  CharSet(std::initializer_list<CharRange> ranges);
  explicit CharSet(std::vector<CharRange> ranges);
  static CharSet all();

  void add(CharRange range);
  void add(const CharSet& other);
  CharSet complement() const;
  // Adds every character whose simple case folding equals that of a member.
  CharSet folded() const;

  bool contains(char32_t character) const;
  bool intersects(const CharSet& other) const;
  bool empty() const { return ranges_.empty(); }
  const std::vector<CharRange>& ranges() const { return ranges_; }

  bool operator==(const CharSet&) const = default;
  auto operator<=>(const CharSet&) const = default;

 private:
  void settle();

  std::vector<CharRange> ranges_;
};

enum class Alphabet : std::uint8_t { Ascii, Unicode };

CharSet digits(Alphabet alphabet);
CharSet word_characters(Alphabet alphabet);  // \w: letters, numbers and _
CharSet spaces(Alphabet alphabet);
CharSet horizontal_spaces();
CharSet vertical_spaces();
// Characters that may not be next to a whole word: letters, marks, numbers and _.
CharSet word_parts();

// `alpha`, `xdigit`, ... of `[[:name:]]`.
std::optional<CharSet> posix_class(std::string_view name, Alphabet alphabet);
// General categories (`L`, `Lu`, `L&`, `Any`) and scripts (`Greek`, by script extensions).
std::optional<CharSet> property(std::string_view name);

}  // namespace sallyport::match
