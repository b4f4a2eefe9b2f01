// Gathers all text of an envelope in one string, so that one search reads it.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "guards/redact/sanitizer_settings.h"
#include "sallyport/envelope.h"
#include "sallyport/json.h"

namespace sallyport::guards {

inline constexpr std::string_view kTruncated = "[TRUNCATED_UNSCANNED_OUTPUT]";  // PI-65
inline constexpr std::size_t kDeepest = 128;                                    // PI-66

// One string, member name or long integer of the envelope.
struct Piece {
  enum class Kind : std::uint8_t { Value, Name, Text };

  // A `json::value`, the `json::key_value_pair` of a name, or a field of the envelope. Null for the
  // copy of a piece that is also in a longer group.
  const void* place = nullptr;
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
  std::uint32_t group = 0;  // index of the first piece of its group
  Kind kind = Kind::Value;
  bool truncated = false;  // it ends in `kTruncated`, or must; the mark is not gathered
  bool cut = false;        // a part of it was left out
  bool encoded = false;    // its text is the decoded base64 of this place
};

// A part of the text that is searched separately. A line feed separates two areas; only
// `private_key_pem` reads across it.
struct Area {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t group = 0;
};

struct GatheredText {
  std::string text;
  std::vector<Piece> pieces;            // pieces of a group, and their texts, are adjacent
  std::vector<Area> areas;              // in order
  std::vector<std::uint32_t> suspects;  // groups that need a closer search
  struct MemberValue {
    std::uint32_t piece = 0;
    std::string_view name;
  };
  std::vector<MemberValue> secret_members;  // strings with a sensitive member name
  std::vector<const json::value*> service_accounts;

  std::string_view of(const Area& area) const {
    return std::string_view(text).substr(area.begin, area.end - area.begin);
  }
  std::string_view of(const Piece& piece) const {
    return std::string_view(text).substr(piece.begin, piece.size);
  }
};

// Views and places point into `envelope`. `Exhausted`: it is over `max_total_bytes` or nested too
// deep, and was not read to its end.
Result<GatheredText> gather_text(const Envelope& envelope, const SanitizerSettings& settings);

// The longest beginning of `text` that has at most `bytes` and ends between two characters.
std::string_view cut_at_character(std::string_view text, std::size_t bytes);

}  // namespace sallyport::guards
