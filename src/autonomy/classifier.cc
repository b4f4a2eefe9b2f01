#include "autonomy/classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "autonomy/effect_table.h"

namespace sallyport::autonomy {

std::string_view to_string(ClassSource source) {
  constexpr std::array<std::string_view, 5> kNames = {"policy", "profile", "table", "hint",
                                                      "unknown"};
  return kNames[static_cast<std::size_t>(source)];
}

json::object to_json(const ToolClass& tool_class) {
  return {{"tier", to_string(tool_class.tier)},
          {"class", tool_class.effect_class},
          {"capability", tool_class.capability},
          {"source", to_string(tool_class.source)}};
}

Result<Classifier> Classifier::build(std::vector<ToolEntry> entries,
                                     std::map<std::string, std::string> profile_of_server) {
  Classifier classifier;
  for (ToolEntry& entry : entries) {
    std::pair key(entry.server, entry.tool);
    if (!classifier.entries_.try_emplace(key, std::move(entry)).second) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("tool `{:.80}` of server `{:.80}` is classified twice", key.second,
                              key.first.empty() ? "*" : key.first));
    }
  }
  for (auto& [server, profile] : profile_of_server) {
    if (!is_profile(profile)) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("server `{:.80}` has profile `{:.80}`, which does not exist", server,
                              profile));
    }
    classifier.profiles_.emplace(server, std::move(profile));
  }
  return classifier;
}

std::vector<ToolEntry> known_tools(const std::vector<ToolEntry>& policy,
                                   const std::map<std::string, std::string>& profile_of_server) {
  std::vector<ToolEntry> tools = policy;
  const auto in_policy = [&](std::string_view server, std::string_view tool) {
    return std::ranges::any_of(policy, [&](const ToolEntry& entry) {
      return entry.tool == tool && (entry.server.empty() || entry.server == server);
    });
  };
  for (const EffectRow& row : effect_rows()) {
    for (const std::string_view name : row.names) {
      if (in_policy("", name)) continue;
      tools.push_back({.tool = std::string(name),
                       .effect_class = std::string(row.effect.effect_class),
                       .capability = std::string(row.effect.capability)});
    }
  }
  for (const auto& [server, profile_name] : profile_of_server) {
    for (const Profile& profile : profiles()) {
      if (profile.name != profile_name) continue;
      for (const std::string_view name : profile.observing) {
        if (in_policy(server, name)) continue;
        tools.push_back({server, std::string(name), Tier::Observe, "none", "none"});
      }
    }
  }
  return tools;
}

ToolClass Classifier::known(const ToolQuery& query) const {
  for (const std::string_view server : {query.server, std::string_view()}) {
    const auto entry = entries_.find({std::string(server), std::string(query.tool)});
    if (entry == entries_.end()) continue;
    return {entry->second.tier, entry->second.effect_class, entry->second.capability,
            ClassSource::Policy};
  }
  const auto profile = profiles_.find(query.server);
  if (profile != profiles_.end() && observes(profile->second, query.tool)) {
    return {Tier::Observe, "none", "none", ClassSource::Profile};
  }
  if (const std::optional<Effect> effect = effect_of(query.tool)) {
    return {Tier::Confirm, std::string(effect->effect_class), std::string(effect->capability),
            ClassSource::Table};
  }
  return {};
}

ToolClass Classifier::classify(const ToolQuery& query) const {
  ToolClass found = known(query);
  if (found.tier == Tier::Confirm) return found;
  // The policy's author knows this tool; a profile knows only tools of that name.
  const bool doubted = found.source != ClassSource::Policy && query.hints.raise_caution();
  if (doubted) return {.source = ClassSource::Hint};
  if (query.definition_changed) return {};
  return found;
}

}  // namespace sallyport::autonomy
