// Recognises an event that differs from an earlier one only in its text. A stream has hundreds of
// them, and what an adapter decided about the bytes around the text holds for all.
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

// Each stream has one. Its adapter owns it.
class RepeatedDelta {
 public:
  // JSON Pointers to the values that may differ; empty: there is none.
  struct Places {
    std::string_view text;       // a string
    std::string_view padding{};  // a string without meaning
    std::string_view number{};   // a whole number
  };
  // The values that differ, as views into the event.
  struct Delta {
    std::string_view text{};    // without its quotes; never empty
    std::string_view number{};  // its digits
  };

  // False: events of this stream differ in more, so learning them does not help.
  bool may_learn() const { return in_vain_ < kMostInVain; }
  // Stores the form of an event: valid JSON with these values. Ignores texts with escapes.
  void learn(std::string_view data, const Places& places);
  // No value: the event has another form, or its text has escapes. Otherwise it is valid JSON, and
  // all other values are equal to those of the learnt event.
  std::optional<Delta> read(std::string_view data);

 private:
  static constexpr std::size_t kMostInVain = 8;
  static constexpr std::size_t kLongest = 64 * 1024;

  enum class Kind { Text, Padding, Number };
  struct Hole {
    std::string before;  // the bytes between the previous hole and this one, with quotes
    Kind kind;
  };

  std::vector<Hole> holes_;  // in order; empty: nothing is learnt
  std::string behind_;       // the bytes after the last hole
  std::size_t in_vain_ = 0;  // times learnt since the last recognised event
};

// Returns `data` with another text and number. `delta` was read from it.
std::string with_text(std::string_view data, const RepeatedDelta::Delta& delta,
                      std::string_view text, std::string_view number = {});

}  // namespace sallyport::llm
