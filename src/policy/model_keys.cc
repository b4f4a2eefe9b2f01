#include "policy/model_keys.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>
#include <cmath>

#include "base/try.h"

namespace sallyport::policy {

namespace {

constexpr std::size_t kMostModelNames = 1'000;
constexpr std::size_t kLongestModelName = 512;
constexpr std::size_t kMostBudgets = 100;
constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 50;
constexpr double kMostDollars = 1e9;

using core::ModelBudget;
using core::ModelRules;
using core::ProviderToolRule;
using core::ToolCallMode;

ModelRules& model_of(Policy& policy) {
  if (!policy.model) policy.model.emplace();
  return *policy.model;
}

// One value for all, or one for each name; `*` stands for all other names.
json::object by_name_schema(json::object value) {
  return {{"anyOf",
           json::array{value, json::object{{"type", "object"}, {"additionalProperties", value}}}}};
}

template <class T, class Read>
config::ReadValue read_by_name(std::map<std::string, T>& out, Read read) {
  return [&out, read](const config::Place& place) -> Result<void> {
    out.clear();
    if (place.node.kind != config::YamlNode::Kind::Mapping) return read(out["*"])(place);
    if (place.node.members.size() > kMostModelNames)
      return place.refuse("there are over 1000 names");
    for (const config::YamlMember& member : place.node.members) {
      const std::string& name = member.key.text;
      if (name.empty() || name.size() > kLongestModelName) {
        return config::Place{member.key, place.file}.refuse("a name has 1 to 512 bytes");
      }
      SALLYPORT_CHECK_OK(read(out[name])(config::Place{member.value, place.file}));
    }
    return {};
  };
}

config::ReadValue read_wildcards(std::vector<std::string>& out) {
  return config::read_list(kMostModelNames, [&out](const config::Place& place) -> Result<void> {
    std::string name;
    SALLYPORT_CHECK_OK(config::read_text(name, kLongestModelName)(place));
    if (name.empty()) return place.refuse("an empty name fits no model; write `*` for all");
    out.push_back(std::move(name));
    return {};
  });
}

template <class T>
auto choice_of(const std::vector<std::string>& words) {
  return [&words](T& out) {
    return config::read_choice(words, [&out](std::size_t at) { out = static_cast<T>(at); });
  };
}

// Dollars with at most six decimal places.
config::ReadValue read_dollars(std::optional<std::uint64_t>& microdollars) {
  return [&microdollars](const config::Place& place) -> Result<void> {
    const std::string& text = place.node.text;
    double dollars = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dollars);
    const bool number = place.node.kind == config::YamlNode::Kind::Scalar && !place.node.quoted &&
                        error == std::errc() && end == text.data() + text.size();
    if (!number || !(dollars >= 0) || dollars > kMostDollars) {
      return place.refuse(
          fmt::format("`{:.80}` is not an amount of dollars from 0 to 1000000000", text));
    }
    microdollars = static_cast<std::uint64_t>(std::llround(dollars * 1e6));
    return {};
  };
}

config::Mapping budget_keys(ModelBudget& out) {
  static const std::vector<std::string> kPer = {"request", "session", "hour", "day", "month"};
  const auto tokens = [](std::optional<std::uint64_t>& limit) {
    return config::read_number(0, kMostTokens, [&limit](std::uint64_t number) { limit = number; });
  };
  config::Mapping keys("a limit on what agents may spend on models");
  keys.required("agent", "name of the agent; `*` stands for any characters",
                config::text_schema(kLongestModelName),
                config::read_text(out.agent, kLongestModelName))
      .optional("model", "name of the model; `*` stands for any characters",
                config::text_schema(kLongestModelName),
                config::read_text(out.model, kLongestModelName))
      .required("per", "period of the limits; an hour slides, days and months are in UTC",
                config::choice_schema(kPer),
                config::read_choice(
                    kPer, [&out](std::size_t at) { out.per = static_cast<ModelBudget::Per>(at); }))
      .optional("input_tokens", "maximum input tokens", config::number_schema(0, kMostTokens),
                tokens(out.input_tokens))
      .optional("output_tokens", "maximum output tokens", config::number_schema(0, kMostTokens),
                tokens(out.output_tokens))
      .optional("tokens", "maximum input and output tokens together",
                config::number_schema(0, kMostTokens), tokens(out.tokens))
      .optional("cost_usd", "maximum cost in dollars, at the prices of the configuration",
                json::object{{"type", "number"}, {"minimum", 0}}, read_dollars(out.cost_microusd));
  return keys;
}

config::ReadValue read_budget(std::vector<ModelBudget>& out) {
  return [&out](const config::Place& place) -> Result<void> {
    ModelBudget budget;
    SALLYPORT_CHECK_OK(budget_keys(budget).read(place));
    if (!budget.input_tokens && !budget.output_tokens && !budget.tokens && !budget.cost_microusd) {
      return place.refuse(
          "this budget limits nothing; give `tokens`, `input_tokens`, `output_tokens` or "
          "`cost_usd`");
    }
    out.push_back(std::move(budget));
    return {};
  };
}

// Sets the flag if the second word is chosen.
config::ReadValue read_second(const std::vector<std::string>& words, bool& flag) {
  return config::read_choice(words, [&flag](std::size_t at) { flag = at == 1; });
}

void add_call_keys(config::Mapping& keys, ModelRules& rules) {
  static const std::vector<std::string> kModes = {"hand_off", "defer", "observe"};
  static const std::vector<std::string> kBypass = {"record", "withhold"};
  keys.optional("allow", "models that agents may use, with `*`; one list, or one for each agent",
                by_name_schema(
                    config::list_schema(config::text_schema(kLongestModelName), kMostModelNames)),
                read_by_name(rules.allow, read_wildcards))
      .optional("tool_calls", "how tool calls that a model proposes are decided",
                by_name_schema(config::choice_schema(kModes)),
                read_by_name(rules.tool_calls, choice_of<ToolCallMode>(kModes)))
      .optional("hold_s", "seconds that a proposed call waits for a reviewer",
                config::number_schema(0, 3'600),
                config::read_number(
                    0, 3'600, [&rules](std::uint64_t s) { rules.hold = std::chrono::seconds(s); }))
      .optional("bypass", "what happens to the result of a call that no gate has decided",
                config::choice_schema(kBypass), read_second(kBypass, rules.withholds_bypassed));
}

void add_content_keys(config::Mapping& keys, ModelRules& rules) {
  static const std::vector<std::string> kSigned = {"drop", "end"};
  static const std::vector<std::string> kBlockAs = {"stop_reason", "answer"};
  static const std::vector<std::string> kProvider = {"allow", "refuse", "strip"};
  static const std::vector<std::string> kUnread = {"record", "refuse"};
  static const std::vector<std::string> kAudio = {"refuse", "pass"};
  keys.optional("signed_reasoning",
                "what happens if a check matches in a signed block: `drop` leaves the block out, "
                "`end` ends the message",
                config::choice_schema(kSigned), read_second(kSigned, rules.ends_on_signed_hit))
      .optional("block_as",
                "how a blocked message ends: with a stop reason, or like a normal answer",
                config::choice_schema(kBlockAs), read_second(kBlockAs, rules.blocks_as_answer))
      .optional("provider_tools",
                "what happens to tools that the provider runs: one value, or one for each type of "
                "tool",
                by_name_schema(config::choice_schema(kProvider)),
                read_by_name(rules.provider_tools, choice_of<ProviderToolRule>(kProvider)))
      .optional("unread", "what happens to requests with parts that no check can read",
                config::choice_schema(kUnread), read_second(kUnread, rules.refuses_unread))
      .optional("audio", "what happens to audio answers while a check of stage `output` exists",
                config::choice_schema(kAudio), read_second(kAudio, rules.passes_audio));
}

// What the provider and the ledger keep.
void add_keeping_keys(config::Mapping& keys, ModelRules& rules) {
  static const std::vector<std::string> kState = {"own", "refuse"};
  static const std::vector<std::string> kStore = {"as_sent", "false"};
  static const std::vector<std::string> kKeep = {"digests", "content"};
  keys.optional("state",
                "conversations that the provider keeps: `own` lets only the agent that began one "
                "continue it",
                config::choice_schema(kState), read_second(kState, rules.refuses_state))
      .optional("store", "`false` instructs the provider not to keep answers",
                config::choice_schema(kStore), read_second(kStore, rules.never_stores))
      .optional("keep", "what the ledger keeps of messages: digests, or also their redacted texts",
                config::choice_schema(kKeep), read_second(kKeep, rules.keeps_content));
}

void add_sending_keys(config::Mapping& keys, ModelRules& rules) {
  ModelBudget any;
  keys.optional("budgets", "spending limits; every budget that applies to a request must have room",
                config::list_schema(budget_keys(any).schema(), kMostBudgets),
                config::read_list(kMostBudgets, read_budget(rules.budgets)))
      .optional("retries", "number of retries after transient errors", config::number_schema(0, 5),
                config::read_number(0, 5, [&rules](std::uint64_t n) { rules.retries = n; }))
      .optional("retry_after_send", "also retry a request that may have reached the provider",
                config::truth_schema(), config::read_truth(rules.retries_after_send))
      .optional("failover", "try the next upstream that serves the model", config::truth_schema(),
                config::read_truth(rules.fails_over));
}

}  // namespace

config::Mapping model_keys(Policy& out) {
  ModelRules& rules = model_of(out);
  config::Mapping keys("which models agents may use, and how requests and answers are handled");
  add_call_keys(keys, rules);
  add_content_keys(keys, rules);
  add_keeping_keys(keys, rules);
  add_sending_keys(keys, rules);
  return keys;
}

}  // namespace sallyport::policy
