// The classification of a tool: what it can do to the world. A tool without one may do anything.
//
//   Classification reads{.tier = Tier::Observe, .effect_class = "none"};
//   reads.replay_safe();              // true: it may be run again after a crash
//   Classification().replay_safe();   // false
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport {

enum class Tier { Observe, Confirm };
enum class Autonomy { Shadow, Suggest, ActWithApproval, ActAuto };

std::string_view to_string(Tier tier);
std::string_view to_string(Autonomy autonomy);
std::optional<Autonomy> autonomy_from(std::string_view word);

// A value. The default is the most cautious one.
struct Classification {
  Tier tier = Tier::Confirm;
  std::string effect_class = "unknown";
  std::string display_name{};  // empty: the tool's own name
  std::string source{};        // policy, profile, table or hint; empty: unknown

  // True if the tool may run again after a crash without a visible effect.
  bool replay_safe() const { return tier == Tier::Observe && effect_class == "none"; }
};

}  // namespace sallyport
