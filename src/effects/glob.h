// Patterns for file names, matched as shells do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::effects {

// One segment of a glob. `active` says for each byte whether it may be a special character.
class GlobSegment {
 public:
  // No value if the meaning depends on the locale, or if the segment is too long.
  static std::optional<GlobSegment> read(std::string_view text, std::string_view active);

  bool literal() const { return literal_; }
  std::string text() const;  // of a literal segment
  bool matches(std::string_view name) const;

 private:
  struct Item {
    enum class Kind { Letter, Any, Star, Set };
    Kind kind = Kind::Letter;
    char letter = 0;
    std::string set{};
    bool negated = false;
  };
  bool matches_item(const Item& item, char c) const;

  std::vector<Item> items_{};
  bool literal_ = true;
};

// True if the text has an active glob character.
bool has_glob(std::string_view text, std::string_view active);

}  // namespace sallyport::effects
