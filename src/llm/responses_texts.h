// The released part of each text of a Responses answer. Events repeat texts up to four times. A
// repetition contains exactly what left before (MP-42), and no text is checked twice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llm/json_strings.h"
#include "llm/message_door.h"
#include "sallyport/result.h"

namespace sallyport::llm {

// The place of a text: the output index and a JSON Pointer inside that item.
struct TextPlace {
  std::uint64_t item = 0;
  std::string pointer{};
  auto operator<=>(const TextPlace&) const = default;
};

struct TextStep {
  std::string text{};    // what leaves now
  bool changed = false;  // it differs from the received text
  std::optional<core::TextBlock> block{};
};

// Each answer has one. Its adapter owns it and uses it on the loop of the request.
class ResponsesTexts {
 public:
  static constexpr std::uint64_t kLimit = std::uint64_t{16} * 1024 * 1024;

  // `json_format`: texts of messages are JSON, and a redaction keeps them valid (MP-52).
  ResponsesTexts(MessageDoor& door, bool json_format) : door_(door), json_format_(json_format) {}

  // Takes a delta. All functions return `Exhausted` if the texts of the answer exceed 16 MiB.
  Result<TextStep> push(const TextPlace& place, const ChannelId& channel, std::string_view delta);
  // Ends a text that came in deltas and returns what still waits. Later calls return nothing.
  Result<TextStep> finish(const TextPlace& place);
  // How a complete text is checked.
  struct Manner {
    bool streams = false;  // like deltas: the text before a block is released
    bool fixed = false;    // a redaction acts as block (MP-44)
    bool loose = false;    // no check changes texts: after deltas it passes unchanged
  };
  // Takes a complete text. Returns what left of it before; a new text is checked by the door. After
  // deltas `text` itself is ignored (MP-42).
  Result<TextStep> repeat(const TextPlace& place, const ChannelId& channel, std::string_view text,
                          const Manner& manner);
  // Records that a text of our own, such as a notice, left after the released text.
  void add(const TextPlace& place, std::string_view text);

  std::string sent(const TextPlace& place) const;
  bool is_open(const TextPlace& place) const;  // deltas came, but no end
  std::vector<TextPlace> open_places() const;

  // True if every source byte of the text up to this character is decided.
  bool is_decided(const TextPlace& place, std::uint64_t character) const;
  // Maps offsets in characters from the source to the released text. No value: they point into a
  // replaced region (MP-47).
  std::optional<std::pair<std::uint64_t, std::uint64_t>> mapped(const TextPlace& place,
                                                                std::uint64_t start,
                                                                std::uint64_t end) const;

 private:
  struct Region {
    std::uint64_t start, end;          // characters of the source
    std::uint64_t out_start, out_end;  // characters of the released text
  };
  struct TextState {
    ChannelId channel{};
    bool streamed = false;
    bool closed = false;
    bool changed = false;
    std::string sent{};
    std::string source{};  // source of a complete text that was changed
    std::string waiting{};
    std::uint64_t in = 0, out = 0;  // decided characters
    std::vector<Region> regions{};
    std::optional<JsonStrings> strings{};
  };

  void feed(TextState& state, const ChannelId& channel, std::string_view text);
  void absorb(TextState& state, core::PassedText& passed);
  Result<void> keep(std::size_t bytes);

  MessageDoor& door_;
  bool json_format_;
  std::map<TextPlace, TextState> states_;
  std::uint64_t kept_ = 0;
};

}  // namespace sallyport::llm
