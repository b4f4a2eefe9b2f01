#include "core/plan/model_rules.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/lower_case.h"

namespace sallyport::core {

namespace {

// The entry of this name, else that of `*`.
template <class T>
const T* entry_of(const std::map<std::string, T>& entries, const std::string& name) {
  auto found = entries.find(name);
  if (found == entries.end()) found = entries.find("*");
  return found == entries.end() ? nullptr : &found->second;
}

}  // namespace

json::object model_rules_json(const ModelRules& rules) {
  json::object tool_calls;
  for (const auto& [agent, mode] : rules.tool_calls) tool_calls[agent] = static_cast<int>(mode);
  json::object provider_tools;
  for (const auto& [type, rule] : rules.provider_tools) {
    provider_tools[type] = static_cast<int>(rule);
  }
  json::array budgets;
  for (const ModelBudget& budget : rules.budgets) {
    budgets.push_back(json::object{{"agent", budget.agent},
                                   {"model", budget.model},
                                   {"per", to_string(budget.per)},
                                   {"input_tokens", json::value_from(budget.input_tokens)},
                                   {"output_tokens", json::value_from(budget.output_tokens)},
                                   {"tokens", json::value_from(budget.tokens)},
                                   {"cost_microusd", json::value_from(budget.cost_microusd)}});
  }
  json::object object{{"allow", json::value_from(rules.allow)},
                      {"tool_calls", std::move(tool_calls)},
                      {"hold_s", rules.hold.count()},
                      {"withholds_bypassed", rules.withholds_bypassed},
                      {"ends_on_signed_hit", rules.ends_on_signed_hit},
                      {"blocks_as_answer", rules.blocks_as_answer},
                      {"provider_tools", std::move(provider_tools)},
                      {"refuses_unread", rules.refuses_unread},
                      {"passes_audio", rules.passes_audio},
                      {"refuses_state", rules.refuses_state},
                      {"never_stores", rules.never_stores},
                      {"budgets", std::move(budgets)},
                      {"retries", rules.retries},
                      {"retries_after_send", rules.retries_after_send},
                      {"fails_over", rules.fails_over}};
  // Only if it is chosen, so that the hashes of all other policies stay the same.
  if (rules.keeps_content) object["keeps_content"] = true;
  return object;
}

std::string_view to_string(ModelBudget::Per per) {
  static constexpr std::array<std::string_view, 5> kWords{"request", "session", "hour", "day",
                                                          "month"};
  return kWords.at(static_cast<std::size_t>(per));
}

bool model_matches(std::string_view wildcard, std::string_view name) {
  const std::string pattern = lower_case(wildcard);
  const std::string text = lower_case(name);
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string::npos;
  std::size_t mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool ModelRules::may_use(const std::string& agent, const std::string& model) const {
  if (allow.empty()) return true;
  const std::vector<std::string>* const models = entry_of(allow, agent);
  return models != nullptr && std::ranges::any_of(*models, [&](const std::string& wildcard) {
           return model_matches(wildcard, model);
         });
}

ToolCallMode ModelRules::tool_calls_of(const std::string& agent) const {
  const ToolCallMode* const mode = entry_of(tool_calls, agent);
  return mode == nullptr ? ToolCallMode::HandOff : *mode;
}

ProviderToolRule ModelRules::rule_for_tool(const std::string& type) const {
  const ProviderToolRule* const rule = entry_of(provider_tools, type);
  return rule == nullptr ? ProviderToolRule::Allow : *rule;
}

}  // namespace sallyport::core
