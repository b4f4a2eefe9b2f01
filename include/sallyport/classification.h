// What kind of thing a tool is. What nobody classified may do anything.
//
//   Classification reads{.tier = Tier::Observe, .effect_class = "none"};
//   reads.replay_safe();              // true: it may be run again after a crash
//   Classification().replay_safe();   // false
#pragma once

#include <string>

namespace sallyport {

enum class Tier { Observe, Confirm };
enum class Autonomy { Shadow, Suggest, ActWithApproval, ActAuto };

std::string_view to_string(Tier tier);
std::string_view to_string(Autonomy autonomy);

struct Classification {
  Tier tier = Tier::Confirm;
  std::string effect_class = "unknown";
  std::string display_name{};  // empty: the tool's own name
  std::string source{};        // who says so: policy, profile, table, hint; empty: unknown

  // May be run again after a crash without anybody noticing.
  bool replay_safe() const { return tier == Tier::Observe && effect_class == "none"; }
};

}  // namespace sallyport
