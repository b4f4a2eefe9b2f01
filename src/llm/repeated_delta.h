// Recognises an event that differs from an earlier one only in its text. A stream has hundreds of
// them, and what an adapter has learnt from the bytes around the text holds for each of them.
//
//   repeated.learn(data, {.text = "/choices/0/delta/content", .padding = "/obfuscation"});
//   if (const auto delta = repeated.read(next)) ...  // `next` need not be read as JSON
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::llm {

// One for each stream; owned by its adapter.
class RepeatedDelta {
 public:
  // Where values stand that may differ, as JSON Pointers; empty: there is none.
  struct Places {
    std::string_view text;       // a string
    std::string_view padding{};  // a string that counts for nothing
    std::string_view number{};   // a whole number
  };
  // What differs, as views into the event.
  struct Delta {
    std::string_view text{};    // without its quotes; never empty
    std::string_view number{};  // its digits
  };

  // False: events of this stream differ in more, and learning them is in vain.
  bool may_learn() const { return in_vain_ < kMostInVain; }
  // `data` is valid JSON that has these values. Learns nothing from a text with escapes.
  void learn(std::string_view data, const Places& places);
  // No value: the event has another form, or its text has escapes. Else it is valid JSON, and all
  // other values are those of the event that was learnt.
  std::optional<Delta> read(std::string_view data);

 private:
  static constexpr std::size_t kMostInVain = 8;
  static constexpr std::size_t kLongest = 64 * 1024;

  enum class Kind { Text, Padding, Number };
  struct Hole {
    std::string before;  // the bytes between the hole before and this one, quotes included
    Kind kind;
  };

  std::vector<Hole> holes_;  // in their order; empty: nothing is learnt
  std::string behind_;       // the last of them
  std::size_t in_vain_ = 0;  // how often was learnt since something was recognised
};

// `data` with another text and another number; `delta` was read from it.
std::string with_text(std::string_view data, const RepeatedDelta::Delta& delta,
                      std::string_view text, std::string_view number = {});

}  // namespace sallyport::llm
