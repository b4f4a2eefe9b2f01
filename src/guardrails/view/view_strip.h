// Removes invisible (default-ignorable) characters, except inside emoji: a ZWJ between two emoji, a
// variation selector after one, and the tags of a flag (GR-38).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "match/tracker.h"

namespace sallyport::guardrails {

class Stripper {
 public:
  // Takes a character and adds the characters that remain.
  void take(const match::Unit& unit, std::vector<match::Unit>& out);
  // The text ends. Waiting characters are not part of an emoji and are dropped.
  void reset();
  std::optional<std::uint64_t> pending_from() const;

 private:
  // The kind of the last character, if the next one may belong to it.
  enum class Last : std::uint8_t { Other, Character, Selector };

  bool take_tag(const match::Unit& unit, std::vector<match::Unit>& out);
  void take_ignorable(const match::Unit& unit, std::vector<match::Unit>& out);
  bool after_emoji() const;

  Last last_ = Last::Other;
  char32_t base_ = 0;                 // the last character, or the base of the last selector
  std::vector<match::Unit> waiting_;  // a joiner, or the tags of what may be a flag
};

}  // namespace sallyport::guardrails
