#include "sallyport/classification.h"

#include <array>
#include <utility>

#include "core/plan/capability.h"
#include "core/record/read_field.h"

namespace sallyport {

namespace {

constexpr core::Word<Autonomy> kAutonomies[] = {{"shadow", Autonomy::Shadow},
                                                {"suggest", Autonomy::Suggest},
                                                {"act_with_approval", Autonomy::ActWithApproval},
                                                {"act_auto", Autonomy::ActAuto}};

}  // namespace

std::string_view to_string(Tier tier) {
  return tier == Tier::Observe ? "Observe" : "Confirm";
}

std::string_view to_string(Autonomy autonomy) {
  return core::word_of(kAutonomies, autonomy);
}

std::optional<Autonomy> autonomy_from(std::string_view word) {
  return core::enum_of(kAutonomies, word);
}

}  // namespace sallyport

namespace sallyport::core {

namespace {

constexpr auto kByClass = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"none", "none"},
     {"fs.write", "workspace.write_text"},
     {"fs.mkdir", "workspace.write_text"},
     {"fs.copy", "workspace.write_text"},
     {"fs.move", "workspace.write_text"},
     {"fs.delete", "workspace.delete"},
     {"process.exec", "process.exec"},
     {"git.write", "git.write"},
     {"host.call", "host.call"},
     {"store.write", "store.write"},
     {"metadata.write", "metadata.write"},
     {"checkpoint.write", "checkpoint.write"},
     {"network.sse.write", "network.sse"},
     {"network.request", "network.http"},
     {"agent_state.write", "agent_state.write"},
     {"mcp.release", "mcp.release"}});

}  // namespace

std::string_view capability_of(std::string_view effect_class) {
  for (const auto& [name, capability] : kByClass) {
    if (name == effect_class) return capability;
  }
  return "unknown";
}

}  // namespace sallyport::core
