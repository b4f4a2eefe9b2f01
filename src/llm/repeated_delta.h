// Recognises an event that differs from an earlier one only in its text. A stream has hundreds of
// them, and what an adapter has learnt from the bytes around the text holds for each of them.
//
//   repeated.learn(data, "/choices/0/delta/content", "/obfuscation");
//   if (const auto text = repeated.text_of(next)) ...  // `next` need not be read as JSON
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sallyport::llm {

// One for each stream; owned by its adapter.
class RepeatedDelta {
 public:
  // False: events of this stream differ in more than their text, and learning them is in vain.
  bool may_learn() const { return in_vain_ < kMostInVain; }
  // `data` is valid JSON with a string at `pointer`. A string at `padding` may differ as well; there
  // may be none. Learns nothing from a text with escapes.
  void learn(std::string_view data, std::string_view pointer, std::string_view padding = {});
  void forget() { before_.clear(); }

  // The text of an event that is like the learnt one; never empty. Nothing: the event has another
  // form, or its text has escapes. What is returned was proved to be valid JSON like the learnt one.
  std::optional<std::string_view> text_of(std::string_view data);

 private:
  static constexpr std::size_t kMostInVain = 8;
  static constexpr std::size_t kLongest = 64 * 1024;

  std::string before_;   // the text, with its first quote; empty: nothing is learnt
  std::string between_;  // text and padding, quotes included; without padding, all behind the text
  std::string behind_;   // the padding, with its last quote
  bool padded_ = false;
  std::size_t in_vain_ = 0;  // how often was learnt since something was recognised
};

// `data` with another text in place of the string whose inside `part` is, a view into `data`.
std::string with_text(std::string_view data, std::string_view part, std::string_view text);

}  // namespace sallyport::llm
