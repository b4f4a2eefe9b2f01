// Other readings of the text of a stream (decoded, normalised), made in step with it. They have the
// same rules, and tell of matches in source bytes.
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

// In place of an entry: the rule holds text of which it is not known yet what it says.
inline constexpr std::uint32_t kNoEntry = std::numeric_limits<std::uint32_t>::max();

struct OtherMatch {
  Match match{};
  std::uint32_t reading = 0;  // 0 is the text itself
  std::string matched{};      // its beginning as that reading has it; not of redact rules
  bool start_known = true;    // false where the match is too long for that
};

class OtherReadings {
 public:
  virtual ~OtherReadings() = default;

  // The next character of the source. Adds the matches that it made certain.
  virtual void step(const Unit& unit, std::vector<OtherMatch>& certain) = 0;
  // The text ends: everything open is decided.
  virtual void finish(std::vector<OtherMatch>& certain) = 0;
  // Matches of this rule are not wanted any more.
  virtual void mute(std::uint32_t rule) = 0;

  // From where on source bytes must wait: the start of an open match of a block or redact rule, or
  // of a unit that is not yet complete.
  virtual std::optional<std::uint64_t> held_from() const = 0;
  // The first rule and entry that wait from there on.
  virtual std::optional<Match> earliest_held() const = 0;
  // More is open than can be followed.
  virtual bool overflowed() const = 0;
  // A block or redact rule (with its reading) that has not seen all, because there was too much.
  virtual std::optional<OtherMatch> truncated() const = 0;
  virtual std::size_t state_bytes() const = 0;
};

}  // namespace sallyport::match
