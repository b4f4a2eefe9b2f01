// The section `model` of a policy: what agents may ask of models, and what happens to answers. The
// model proxy and the agent runtime obey it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::core {

// Who decides about tool calls that a model proposes (MP-55).
enum class ToolCallMode : std::uint8_t {
  HandOff,  // decided here completely; the client executes
  Defer,    // checks of `tool_use` here, the rest at the MCP or hook door
  Observe,  // recorded, never changed or held
};

enum class ProviderToolRule : std::uint8_t { Allow, Refuse, Strip };

// A missing limit does not apply (MP-70).
struct ModelBudget {
  enum class Per : std::uint8_t { Request, Session, Hour, Day, Month };
  std::string agent{"*"};  // wildcards
  std::string model{"*"};
  Per per = Per::Day;
  std::optional<std::uint64_t> input_tokens{};
  std::optional<std::uint64_t> output_tokens{};
  std::optional<std::uint64_t> tokens{};
  std::optional<std::uint64_t> cost_microusd{};

  bool operator==(const ModelBudget&) const = default;
};
std::string_view to_string(ModelBudget::Per per);

struct ModelRules {
  // Wildcards by agent; `*` stands for the others. Empty: every agent may use every model.
  std::map<std::string, std::vector<std::string>> allow{};
  std::map<std::string, ToolCallMode> tool_calls{};  // by agent; `*` stands for the others
  std::chrono::seconds hold{50};
  bool withholds_bypassed = false;
  bool ends_on_signed_hit = false;
  bool blocks_as_answer = false;
  std::map<std::string, ProviderToolRule> provider_tools{};  // by type; `*` stands for the others
  bool refuses_unread = false;
  bool passes_audio = false;
  bool refuses_state = false;
  bool never_stores = false;
  bool keeps_content = false;  // `keep: content` (MP-69)
  std::vector<ModelBudget> budgets{};
  std::uint64_t retries = 0;
  bool retries_after_send = false;
  bool fails_over = false;

  bool may_use(const std::string& agent, const std::string& model) const;
  ToolCallMode tool_calls_of(const std::string& agent) const;
  ProviderToolRule rule_for_tool(const std::string& type) const;

  bool operator==(const ModelRules&) const = default;
};

// For the hash of a plan.
json::object model_rules_json(const ModelRules& rules);

// `*` stands for any number of characters, `?` for one. Names of models are compared without case.
bool model_matches(std::string_view wildcard, std::string_view name);

}  // namespace sallyport::core
