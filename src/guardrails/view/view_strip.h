// Takes out characters that are not seen (default-ignorable ones), except where an emoji is made of
// them: a ZWJ between two emoji, a variation selector after one, the tags of a flag (GR-38).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "match/tracker.h"

namespace sallyport::guardrails {

class Stripper {
 public:
  // Adds what is left of the text up to here.
  void take(const match::Unit& unit, std::vector<match::Unit>& out);
  // The text ends: what waited is no part of an emoji.
  void reset();
  std::optional<std::uint64_t> pending_from() const;

 private:
  // Of the last character, as far as the next one may belong to it.
  enum class Last : std::uint8_t { Other, Character, Selector };

  bool take_tag(const match::Unit& unit, std::vector<match::Unit>& out);
  void take_ignorable(const match::Unit& unit, std::vector<match::Unit>& out);
  bool after_emoji() const;

  Last last_ = Last::Other;
  char32_t base_ = 0;                 // that the last character is, or selects a form of
  std::vector<match::Unit> waiting_;  // a joiner, or the tags of what may be a flag
};

}  // namespace sallyport::guardrails
