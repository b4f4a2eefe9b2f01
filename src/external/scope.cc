#include "external/scope.h"

#include <algorithm>
#include <boost/json.hpp>

namespace sallyport::external {

namespace {

const core::CallSurroundings kUnknown;

std::vector<std::string> workspaces_of(const Call& call, const core::CallSurroundings* around) {
  if (around) return around->workspace;
  std::vector<std::string> folders = call.setting.workspace;
  if (folders.empty() && !call.setting.folder.empty()) folders.push_back(call.setting.folder);
  return folders;
}

}  // namespace

Scope::Seen Scope::look(const Entry& entry, const Call& call,
                        const core::CallSurroundings* around) const {
  const core::UpstreamFacts& upstream = around ? around->upstream : kUnknown.upstream;
  const std::vector<std::string> workspace = workspaces_of(call, around);
  const effects::CallFacts facts =
      rules_.facts_of({.call = call, .upstream = upstream, .workspace = workspace});
  const effects::Effects effects = effects::effects_of_call(facts, rules_.set().book);
  Seen seen{.effects = rules::effects_json(effects, facts),
            .workspaces = rules::usable_workspace(facts.workspace, facts.machine.home),
            .cwd = facts.cwd};
  if (entry.when.when.empty()) return seen;
  const std::vector<rules::Match> match = rules::matches_of(entry.when, facts, effects);
  seen.asked =
      entry.kind == Kind::Approver
          ? std::ranges::all_of(match, [](rules::Match each) { return each == rules::Match::Yes; })
          : std::ranges::any_of(match, [](rules::Match each) { return each != rules::Match::No; });
  return seen;
}

bool Scope::concerns(const Entry& entry, const Call& call) const {
  if (entry.when.when.empty()) return true;
  const effects::CallFacts facts = rules_.facts_of(
      {.call = call, .upstream = kUnknown.upstream, .workspace = kUnknown.workspace});
  const rules::Scene scene(facts);
  return std::ranges::any_of(entry.when.when, [&](const rules::Conditions& conditions) {
    return scene.call_part(conditions) != rules::Match::No;
  });
}

}  // namespace sallyport::external
