// The effect of signed control records on each agent's tier (AT-5, AT-6, TR-18). One fact per agent
// keeps the statements with their signatures, changed with the control record, so that every
// resolution of a tier can check who signed without reading the log.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/approval_rules.h"
#include "core/record/record_reader.h"
#include "trust/control.h"

namespace sallyport::trust {

// The tiers that believed control records give.
struct Standing {
  std::optional<Autonomy> promoted_to{};
  std::optional<Autonomy> demoted_to{};  // since the last promotion

  void take(bool promotion, Autonomy to_tier);
  // The tier of an agent whose policy declares this tier.
  Autonomy effective(Autonomy declared) const;

  bool operator==(const Standing&) const = default;
};

// The control statements about one agent, oldest first. An earlier statement stays when a later one
// comes: the later one may stop counting, and then the earlier one holds.
class ControlHistory {
 public:
  // An empty text is no statement. A text of the first release has no signatures: its promotion
  // counts for nothing, and its demotion still lowers. `Corrupt`: the text is neither.
  static Result<ControlHistory> parse(std::string_view stored);
  std::string text() const;

  // Beyond `kMost` statements the oldest is removed.
  static constexpr std::size_t kMost = 16;
  void add(ControlStatement statement, std::string signature);

  // The standing from the statements that these people signed; null: no statement counts. `ignored`
  // gets a line for each statement that does not count.
  Standing proven(const std::string& agent, std::string_view ledger,
                  const core::ReviewerBook* people,
                  std::vector<std::string>* ignored = nullptr) const;

 private:
  struct Signed {
    ControlStatement statement{};
    std::string signature{};
  };
  static Result<ControlHistory> parse_unsigned(std::string_view stored);

  std::vector<Signed> controls_;
  // From the first release. An unsigned statement may lower a tier, and never raise one.
  std::optional<Autonomy> unproven_demotion_;
  bool unproven_promotion_ = false;
};

inline constexpr std::string_view kStandingSpace = "trust_standing";  // by agent

// The standing that the ledger has now and these people signed. An error: it cannot be read, and
// the tier is `shadow`.
Result<Standing> standing_of(core::RecordReader& records, const std::string& agent,
                             const core::ReviewerBook* people);

}  // namespace sallyport::trust
