// What left of each text of a Responses answer. Events repeat texts up to four times; a repetition
// says exactly what left before (MP-42), and no text is checked twice.
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

// Where a text stands: the output index, and a JSON Pointer inside that item.
struct TextPlace {
  std::uint64_t item = 0;
  std::string pointer{};
  auto operator<=>(const TextPlace&) const = default;
};

struct TextStep {
  std::string text{};    // what leaves now
  bool changed = false;  // it is not what came
  std::optional<core::TextBlock> block{};
};

// One for each answer, owned by its adapter; on the loop of its request.
class ResponsesTexts {
 public:
  static constexpr std::uint64_t kLimit = std::uint64_t{16} * 1024 * 1024;

  // `json_format`: the texts of messages are JSON, and a redaction keeps it whole (MP-52).
  ResponsesTexts(MessageDoor& door, bool json_format) : door_(door), json_format_(json_format) {}

  // A delta. Errors of all: `Exhausted`, the texts of the answer are over 16 MiB.
  Result<TextStep> push(const TextPlace& place, const ChannelId& channel, std::string_view delta);
  // The end of a text that came in deltas: what still waits. Later ends give nothing.
  Result<TextStep> finish(const TextPlace& place);
  // How a complete text is looked at.
  struct Manner {
    bool streams = false;  // as its deltas would be: a block lets out what stands before it
    bool fixed = false;    // a redaction acts as block (MP-44)
    bool loose = false;    // nothing is changed: after deltas it passes as it is
  };
  // A complete text: what left of it, or if it is new, what the door says. After deltas `text`
  // itself does not count (MP-42).
  Result<TextStep> repeat(const TextPlace& place, const ChannelId& channel, std::string_view text,
                          const Manner& manner);
  // A text of ours, such as a notice, left behind what is there.
  void add(const TextPlace& place, std::string_view text);

  std::string sent(const TextPlace& place) const;
  bool is_open(const TextPlace& place) const;  // deltas came, and no end
  std::vector<TextPlace> open_places() const;

  // True if every source byte of the text up to this character is decided.
  bool is_decided(const TextPlace& place, std::uint64_t character) const;
  // Offsets in characters, from the source to what left; nothing: they point into a region that was
  // replaced (MP-47).
  std::optional<std::pair<std::uint64_t, std::uint64_t>> mapped(const TextPlace& place,
                                                                std::uint64_t start,
                                                                std::uint64_t end) const;

 private:
  struct Region {
    std::uint64_t start, end;          // characters of the source
    std::uint64_t out_start, out_end;  // of what left
  };
  struct Said {
    ChannelId channel{};
    bool streamed = false;
    bool closed = false;
    bool changed = false;
    std::string sent{};
    std::string source{};  // of a whole text that was changed
    std::string waiting{};
    std::uint64_t in = 0, out = 0;  // characters that are decided
    std::vector<Region> regions{};
    std::optional<JsonStrings> strings{};
  };

  void feed(Said& said, const ChannelId& channel, std::string_view text);
  void absorb(Said& said, core::PassedText& passed);
  Result<void> keep(std::size_t bytes);

  MessageDoor& door_;
  bool json_format_;
  std::map<TextPlace, Said> said_;
  std::uint64_t kept_ = 0;
};

}  // namespace sallyport::llm
