#include "policy/autonomy_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "config/yaml_json.h"

namespace sallyport::policy {

namespace {

constexpr std::size_t kLongestScopeName = 512;
constexpr std::size_t kMostScopes = 256;

const std::vector<std::string> kFronts = {"mcp", "http", "hook", "library", "agent"};

// `autonomy.agent_tiers.bot` as a JSON Pointer below the section.
std::string pointer_of(std::string_view where) {
  const std::size_t section = std::min(where.find('.'), where.size());
  std::string pointer(where.substr(section));
  std::ranges::replace(pointer, '.', '/');
  return pointer;
}

// A key without a value is an error: an empty tier must not pass for an omitted one.
Result<void> check_filled(const config::Place& place) {
  for (const auto& [key, value] : place.node.members) {
    if (value.is_null()) {
      return config::Place{key, place.file}.refuse(
          fmt::format("`{}` has no value, give it one or leave it out", key.text));
    }
    SALLYPORT_CHECK_OK(check_filled({value, place.file}));
  }
  return {};
}

Result<autonomy::AutonomyPolicy> autonomy_at(const config::Place& place) {
  SALLYPORT_CHECK_OK(check_filled(place));
  SALLYPORT_TRY(const json::value section, to_json(place.node, place.file));
  auto policy = autonomy::autonomy_policy_from_json(
      section.is_null() ? json::value(json::object()) : section, "autonomy");
  if (policy) return policy;
  const config::YamlNode& node = config::node_at(place.node, pointer_of(policy.error().where));
  return std::unexpected(config::Place{node, place.file}.refuse(policy.error().message).error());
}

config::Mapping scope_cover_keys(autonomy::PolicyScope& out) {
  config::Mapping keys("calls that the scope covers; `*` stands for any characters");
  keys.optional("agent", "the calling agent", config::text_schema(kLongestScopeName),
                config::read_text(out.agent, kLongestScopeName))
      .optional("agent_name", "client or sub-agent, by the name that its host gives",
                config::text_schema(kLongestScopeName),
                config::read_text(out.agent_name, kLongestScopeName))
      .optional("session", "session of the call", config::text_schema(kLongestScopeName),
                config::read_text(out.session, kLongestScopeName))
      .optional("server", "server of the tool", config::text_schema(kLongestScopeName),
                config::read_text(out.server, kLongestScopeName))
      .optional("front", "front that the call came through", config::choice_schema(kFronts),
                config::read_choice(kFronts, [&out](std::size_t at) { out.front = kFronts[at]; }));
  return keys;
}

config::Mapping scope_keys(autonomy::PolicyScope& out) {
  config::Mapping keys("narrower autonomy for some calls; a scope never widens it");
  keys.required("for", "calls that the scope covers", scope_cover_keys(out).schema(),
                [&out](const config::Place& place) -> Result<void> {
                  SALLYPORT_CHECK_OK(scope_cover_keys(out).read(place));
                  if (!place.node.members.empty()) return {};
                  return place.refuse("name an agent, a session, a server or a front");
                })
      .required(
          "autonomy", "the same keys as in the section `autonomy`", autonomy_schema(),
          [&out](const config::Place& place) -> Result<void> {
            SALLYPORT_TRY(out.policy, autonomy_at(place));
            if (!out.policy.agent_id) return {};
            return place.refuse("`agent_id` has no place in a scope, use `for: {agent: ...}`");
          });
  return keys;
}

}  // namespace

json::object autonomy_schema() {
  const json::object tier =
      config::choice_schema({"shadow", "suggest", "act_with_approval", "act_auto"});
  const json::object tiers{{"type", "object"}, {"additionalProperties", tier}};
  const json::object names{{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}};
  const json::object count = config::number_schema(0, 100'000);
  return {{"type", json::array{"object", "null"}},
          {"additionalProperties", false},
          {"properties",
           {{"agent_id", config::text_schema(kLongestScopeName)},
            {"autonomy_tier", tier},
            {"tier", tier},
            {"action_tiers", tiers},
            {"agent_tiers", tiers},
            {"agent_action_tiers", {{"type", "object"}, {"additionalProperties", tiers}}},
            {"reviewers", names},
            {"requires_human", config::truth_schema()},
            {"requires_human_actions", names},
            {"requires_human_agents", names},
            {"quorum", config::number_schema(1, 1000)},
            {"deadline_s", config::number_schema(1, 604'800)},
            {"use_within_s", config::number_schema(1, 604'800)},
            {"budget",
             {{"type", "object"},
              {"additionalProperties", false},
              {"properties", {{"max_per_hour", count}, {"max_per_day", count}}}}},
            {"ceiling", tier}}}};
}

config::ReadValue read_autonomy(Policy& out) {
  return [&out](const config::Place& place) -> Result<void> {
    SALLYPORT_TRY(out.autonomy, autonomy_at(place));
    return {};
  };
}

config::ReadValue read_scopes(Policy& out) {
  return config::read_list(kMostScopes, [&out](const config::Place& place) -> Result<void> {
    autonomy::PolicyScope scope;
    SALLYPORT_CHECK_OK(scope_keys(scope).read(place));
    out.scopes.push_back(std::move(scope));
    return {};
  });
}

json::object scopes_schema() {
  autonomy::PolicyScope none;
  return config::list_schema(scope_keys(none).schema(), kMostScopes);
}

}  // namespace sallyport::policy
