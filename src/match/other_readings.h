// Other readings (decoded, normalised) of the text of a stream, made together with it. They have
// the same rules and report matches in source bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "match/pattern_set.h"
#include "match/tracker.h"

namespace sallyport::match {

// In place of an entry: the rule holds text that is not yet decoded.
inline constexpr std::uint32_t kNoEntry = std::numeric_limits<std::uint32_t>::max();

struct OtherMatch {
  Match match{};
  std::uint32_t reading = 0;  // 0 is the text itself
  std::string matched{};      // its beginning in that reading; empty for redact rules
  bool start_known = true;    // false: the match is too long
};

class OtherReadings {
 public:
  virtual ~OtherReadings() = default;

  // Takes the next character of the source. Adds the matches that it made certain.
  virtual void step(const Unit& unit, std::vector<OtherMatch>& certain) = 0;
  // The text ends. Decides everything that is open.
  virtual void finish(std::vector<OtherMatch>& certain) = 0;
  // Stops reporting matches of this rule.
  virtual void mute(std::uint32_t rule) = 0;

  // The first source byte that must wait: the start of an open match of a block or redact rule, or
  // of an incomplete unit.
  virtual std::optional<std::uint64_t> held_from() const = 0;
  // The first rule and entry that wait from that byte.
  virtual std::optional<Match> earliest_held() const = 0;
  // True if more matches are open than can be tracked.
  virtual bool overflowed() const = 0;
  // A block or redact rule (with its reading) that could not read all of a text that was too long.
  virtual std::optional<OtherMatch> truncated() const = 0;
  virtual std::size_t state_bytes() const = 0;
};

}  // namespace sallyport::match
