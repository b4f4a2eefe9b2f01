// What signed control records made of each agent's tier (AT-5, AT-6, TR-18). Pure: whoever keeps
// the log keeps the text as one fact per agent, changed with the control record.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/recorder.h"
#include "trust/trust_record.h"

namespace sallyport::trust {

struct Standing {
  std::optional<Autonomy> promoted_to{};
  std::optional<Autonomy> demoted_to{};  // since the last promotion

  // An empty text is no standing. `Corrupt`: nobody of us wrote this.
  static Result<Standing> parse(std::string_view stored);
  std::string text() const;

  void take(bool promotion, Autonomy to_tier);
  // Of an agent whose policy declares this tier.
  Autonomy effective(Autonomy declared) const;

  bool operator==(const Standing&) const = default;
};

inline constexpr std::string_view kStandingSpace = "trust_standing";  // by agent

// As the ledger has it now. What cannot be read is an error, and its reader's tier is `shadow`.
Result<Standing> standing_of(core::RecordReader& records, std::string_view agent);

}  // namespace sallyport::trust
