// Searches whole texts. Finds the rules of a set that match and the match to report (GR-13).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "guardrails/check/check_set.h"
#include "guardrails/view/view_node.h"
#include "guardrails/view/view_readers.h"
#include "match/scanner.h"

namespace sallyport::guardrails {

// The best match of a rule: first by entry, then by text, by view, and leftmost.
struct Sighting {
  std::uint32_t entry = 0;
  std::size_t text = 0;
  std::uint32_t view = 0;
  std::uint64_t place = 0;  // of its start: a byte in the raw text, a character in a view

  auto operator<=>(const Sighting&) const = default;
};

// A view, by its group in the set and its index there. The raw text belongs to no group.
struct Reading {
  static constexpr std::size_t kRaw = static_cast<std::size_t>(-1);
  std::size_t group = kRaw;
  std::size_t view = 0;

  auto operator<=>(const Reading&) const = default;
};

class TextSearch {
 public:
  // The set must outlive it.
  explicit TextSearch(const CheckSet& set);
  ~TextSearch();

  // Searches a text; numbers must increase. Returns readings in which a wanted redact rule matched.
  std::set<Reading> look_at(std::string_view text, std::size_t number,
                            const std::vector<bool>& wanted);

  const std::vector<std::optional<Sighting>>& best() const { return best_; }
  // True if a view had more text than the rule has read.
  bool truncated(std::uint32_t rule) const;
  // The count of the last text.
  std::uint64_t invalid_utf8() const { return invalid_utf8_; }

 private:
  struct Group;

  void found(const match::Match& match, const Reading& reading);

  const CheckSet& set_;
  match::Scanner raw_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<std::optional<Sighting>> best_;
  std::uint64_t invalid_utf8_ = 0;
  // State of the text that is being searched.
  std::size_t number_ = 0;
  const std::vector<bool>* wanted_ = nullptr;
  std::set<Reading> redactable_;
};

// Start, end and text of a match that was found in this text.
Located locate(const CheckSet& set, std::string_view text, std::uint32_t rule,
               const Sighting& sighting);

}  // namespace sallyport::guardrails
