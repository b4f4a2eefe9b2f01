// Searches whole texts: which rules of a plan match, and where the match to report begins (GR-13).
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

// The best match of a rule: of the first entry, in the first text, in the first view, the leftmost.
struct Sighting {
  std::uint32_t entry = 0;
  std::size_t text = 0;
  std::uint32_t view = 0;
  std::uint64_t place = 0;  // of its start: in the raw text a byte, in a view a character

  auto operator<=>(const Sighting&) const = default;
};

// A view by its group in the plan and its place there; the raw text belongs to no group.
struct Reading {
  static constexpr std::size_t kRaw = static_cast<std::size_t>(-1);
  std::size_t group = kRaw;
  std::size_t view = 0;

  auto operator<=>(const Reading&) const = default;
};

class TextSearch {
 public:
  // The plan must outlive it.
  explicit TextSearch(const CheckSet& plan);
  ~TextSearch();

  // Texts are numbered upwards. Returns the readings in which a wanted redact rule matched.
  std::set<Reading> look_at(std::string_view text, std::size_t number,
                            const std::vector<bool>& wanted);

  const std::vector<std::optional<Sighting>>& best() const { return best_; }
  // True if a view had more than the rule has seen.
  bool truncated(std::uint32_t rule) const;
  // Of the last text.
  std::uint64_t invalid_utf8() const { return invalid_utf8_; }

 private:
  struct Group;

  void found(const match::Match& match, const Reading& reading);

  const CheckSet& plan_;
  match::Scanner raw_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<std::optional<Sighting>> best_;
  std::uint64_t invalid_utf8_ = 0;
  // Of the text that is being looked at.
  std::size_t number_ = 0;
  const std::vector<bool>* wanted_ = nullptr;
  std::set<Reading> redactable_;
};

// Start, end and text of a match that was seen in this text.
Located locate(const CheckSet& plan, std::string_view text, std::uint32_t rule,
               const Sighting& sighting);

}  // namespace sallyport::guardrails
