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

// One value for all, or one for each name; `*` are the others.
json::object by_name_schema(json::object value) {
  return {{"anyOf",
           json::array{value, json::object{{"type", "object"}, {"additionalProperties", value}}}}};
}

template <class T, class Read>
ReadValue read_by_name(std::map<std::string, T>& out, Read read) {
  return [&out, read](const Place& place) -> Result<void> {
    out.clear();
    if (place.node.kind != YamlNode::Kind::Mapping) return read(out["*"])(place);
    if (place.node.members.size() > kMostModelNames)
      return place.refuse("there are over 1000 names");
    for (const YamlMember& member : place.node.members) {
      const std::string& name = member.key.text;
      if (name.empty() || name.size() > kLongestModelName) {
        return Place{member.key, place.file}.refuse("a name has 1 to 512 bytes");
      }
      SALLYPORT_CHECK_OK(read(out[name])(Place{member.value, place.file}));
    }
    return {};
  };
}

ReadValue read_wildcards(std::vector<std::string>& out) {
  return read_list(kMostModelNames, [&out](const Place& place) -> Result<void> {
    std::string name;
    SALLYPORT_CHECK_OK(read_text(name, kLongestModelName)(place));
    if (name.empty()) return place.refuse("an empty name fits no model; write `*` for all");
    out.push_back(std::move(name));
    return {};
  });
}

template <class T>
auto choice_of(const std::vector<std::string>& words) {
  return [&words](T& out) {
    return read_choice(words, [&out](std::size_t at) { out = static_cast<T>(at); });
  };
}

// Dollars with at most six digits behind the point.
ReadValue read_dollars(std::optional<std::uint64_t>& microdollars) {
  return [&microdollars](const Place& place) -> Result<void> {
    const std::string& text = place.node.text;
    double dollars = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dollars);
    const bool number = place.node.kind == YamlNode::Kind::Scalar && !place.node.quoted &&
                        error == std::errc() && end == text.data() + text.size();
    if (!number || !(dollars >= 0) || dollars > kMostDollars) {
      return place.refuse(
          fmt::format("`{:.80}` is no amount of dollars from 0 to 1000000000", text));
    }
    microdollars = static_cast<std::uint64_t>(std::llround(dollars * 1e6));
    return {};
  };
}

Mapping budget_keys(ModelBudget& out) {
  static const std::vector<std::string> kPer = {"request", "session", "hour", "day", "month"};
  const auto tokens = [](std::optional<std::uint64_t>& limit) {
    return read_number(0, kMostTokens, [&limit](std::uint64_t number) { limit = number; });
  };
  Mapping keys("what agents may spend on models");
  keys.required("agent", "name of the agent; `*` stands for any characters",
                text_schema(kLongestModelName), read_text(out.agent, kLongestModelName))
      .optional("model", "name of the model; `*` stands for any characters",
                text_schema(kLongestModelName), read_text(out.model, kLongestModelName))
      .required("per", "what the limits count over; hours slide, days and months are UTC",
                choice_schema(kPer),
                read_choice(
                    kPer, [&out](std::size_t at) { out.per = static_cast<ModelBudget::Per>(at); }))
      .optional("input_tokens", "most tokens of prompts", number_schema(0, kMostTokens),
                tokens(out.input_tokens))
      .optional("output_tokens", "most tokens of answers", number_schema(0, kMostTokens),
                tokens(out.output_tokens))
      .optional("tokens", "most tokens of both", number_schema(0, kMostTokens), tokens(out.tokens))
      .optional("cost_usd", "most dollars, by the prices of the configuration",
                json::object{{"type", "number"}, {"minimum", 0}}, read_dollars(out.cost_microusd));
  return keys;
}

ReadValue read_budget(std::vector<ModelBudget>& out) {
  return [&out](const Place& place) -> Result<void> {
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

}  // namespace

Mapping model_keys(Policy& out) {
  static const std::vector<std::string> kModes = {"hand_off", "defer", "observe"};
  static const std::vector<std::string> kBypass = {"record", "withhold"};
  static const std::vector<std::string> kSigned = {"drop", "end"};
  static const std::vector<std::string> kBlockAs = {"stop_reason", "answer"};
  static const std::vector<std::string> kProvider = {"allow", "refuse", "strip"};
  static const std::vector<std::string> kUnread = {"record", "refuse"};
  static const std::vector<std::string> kAudio = {"refuse", "pass"};
  static const std::vector<std::string> kState = {"own", "refuse"};
  static const std::vector<std::string> kStore = {"as_sent", "false"};
  static const std::vector<std::string> kKeep = {"digests", "content"};
  ModelRules& rules = model_of(out);
  ModelBudget any;
  const auto second = [](const std::vector<std::string>& words, bool& flag) {
    return read_choice(words, [&flag](std::size_t at) { flag = at == 1; });
  };
  Mapping keys("what agents may ask of models, and what happens to answers");
  keys.optional("allow", "models that agents may use, with `*`; one list, or one for each agent",
                by_name_schema(list_schema(text_schema(kLongestModelName), kMostModelNames)),
                read_by_name(rules.allow, read_wildcards))
      .optional("tool_calls", "who decides about tool calls that a model proposes",
                by_name_schema(choice_schema(kModes)),
                read_by_name(rules.tool_calls, choice_of<ToolCallMode>(kModes)))
      .optional("hold_s", "how long a proposed call waits for a person", number_schema(0, 3'600),
                read_number(0, 3'600,
                            [&rules](std::uint64_t s) { rules.hold = std::chrono::seconds(s); }))
      .optional("bypass", "what happens to the result of a call that no door has seen",
                choice_schema(kBypass), second(kBypass, rules.withholds_bypassed))
      .optional("signed_reasoning",
                "what a hit in a signed block does: leaves the block out, or "
                "ends the message",
                choice_schema(kSigned), second(kSigned, rules.ends_on_signed_hit))
      .optional("block_as", "how a message that a check ends stops", choice_schema(kBlockAs),
                second(kBlockAs, rules.blocks_as_answer))
      .optional("provider_tools", "tools that the provider runs; one word, or one for each type",
                by_name_schema(choice_schema(kProvider)),
                read_by_name(rules.provider_tools, choice_of<ProviderToolRule>(kProvider)))
      .optional("unread", "requests with parts that no check can read", choice_schema(kUnread),
                second(kUnread, rules.refuses_unread))
      .optional("audio", "answers as audio, while a check of stage `output` exists",
                choice_schema(kAudio), second(kAudio, rules.passes_audio))
      .optional("state", "conversations that the provider keeps", choice_schema(kState),
                second(kState, rules.refuses_state))
      .optional("store", "whether the provider may keep the answer", choice_schema(kStore),
                second(kStore, rules.never_stores))
      .optional("keep", "what the ledger keeps of messages: digests, or also their redacted texts",
                choice_schema(kKeep), second(kKeep, rules.keeps_content))
      .optional("budgets", "what agents may spend; all that fit a request must have room",
                list_schema(budget_keys(any).schema(), kMostBudgets),
                read_list(kMostBudgets, read_budget(rules.budgets)))
      .optional("retries", "attempts beyond the first, after errors that pass", number_schema(0, 5),
                read_number(0, 5, [&rules](std::uint64_t n) { rules.retries = n; }))
      .optional("retry_after_send", "also repeats a request that may have reached the provider",
                truth_schema(), read_truth(rules.retries_after_send))
      .optional("failover", "tries the next upstream that serves the model", truth_schema(),
                read_truth(rules.fails_over));
  return keys;
}

}  // namespace sallyport::policy
