#include "autonomy/policy_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "autonomy/tier.h"
#include "base/nearest.h"

namespace sallyport::autonomy {

namespace {

constexpr std::size_t kLongestName = 512;

std::string tier_words() {
  std::vector<std::string_view> words;
  for (const Autonomy tier : kTiers) words.push_back(to_string(tier));
  return fmt::format("`{}`", fmt::join(words, "`, `"));
}

}  // namespace

PolicyReader::PolicyReader(const json::value& value, std::string where)
    : object_(value.if_object()), in_(value, std::move(where)) {}

PolicyReader::PolicyReader(const json::object& object, std::string where)
    : object_(&object), in_(object, std::move(where)) {}

void PolicyReader::only(std::initializer_list<std::string_view> known) {
  if (object_ == nullptr) return;
  for (const json::key_value_pair& member : *object_) {
    if (std::ranges::find(known, std::string_view(member.key())) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    const std::string_view name = std::string_view(member.key()).substr(0, 60);
    in_.refuse(name, fmt::format("is unknown{}; use `{}`", did_you_mean(name, names),
                                 fmt::join(known, "`, `")));
  }
}

std::optional<std::string> PolicyReader::name(std::string_view member) {
  std::optional<std::string> name = in_.optional_text(member);
  if (name && (name->empty() || name->size() > kLongestName)) {
    in_.refuse(member, "must be 1 to 512 bytes");
  }
  return name;
}

std::optional<Autonomy> PolicyReader::tier(std::string_view member) {
  const std::optional<std::string> word = in_.optional_text(member);
  if (!word || !ok()) return std::nullopt;
  const std::optional<Autonomy> tier = autonomy_from(*word);
  if (!tier) {
    in_.refuse(member, fmt::format("is `{:.60}`, which is not a tier, it must be one of {}", *word,
                                   tier_words()));
  }
  return tier;
}

bool PolicyReader::flag(std::string_view member) {
  return in_.has(member) && in_.boolean(member);
}

std::optional<std::uint64_t> PolicyReader::count(std::string_view member, std::uint64_t least,
                                                 std::uint64_t most) {
  if (!in_.has(member)) return std::nullopt;
  const std::uint64_t number = in_.number(member);
  if (ok() && (number < least || number > most)) {
    in_.refuse(member, fmt::format("must be a whole number from {} to {}", least, most));
  }
  return number;
}

std::vector<std::string> PolicyReader::names(std::string_view member) {
  std::vector<std::string> names;
  if (!in_.has(member)) return names;
  for (const json::value& item : in_.array(member)) {
    const bool good = item.is_string() && !item.get_string().empty() &&
                      item.get_string().size() <= kLongestName && is_utf8(item.get_string());
    if (!good) {
      in_.refuse(fmt::format("{}[{}]", member, names.size()), "must be a name of 1 to 512 bytes");
      return {};
    }
    std::string name(item.get_string());
    if (std::ranges::find(names, name) != names.end()) {
      in_.refuse(fmt::format("{}[{}]", member, names.size()), "is listed twice");
    }
    names.push_back(std::move(name));
  }
  if (names.empty()) in_.refuse(member, "is empty; leave it out");
  return names;
}

std::vector<std::string> PolicyReader::actions(std::string_view member) {
  std::vector<std::string> actions = names(member);
  for (std::size_t i = 0; i < actions.size(); ++i) {
    check_action(fmt::format("{}[{}]", member, i), actions[i]);
  }
  return actions;
}

std::vector<std::string> PolicyReader::agents(std::string_view member) {
  std::vector<std::string> agents = names(member);
  for (std::size_t i = 0; i < agents.size(); ++i) {
    check_agent(fmt::format("{}[{}]", member, i), agents[i]);
  }
  return agents;
}

TierTable PolicyReader::agent_tiers(std::string_view member) {
  return tiers(member, Names::Agents);
}

TierTable PolicyReader::action_tiers(std::string_view member) {
  return tiers(member, Names::Actions);
}

std::map<std::string, TierTable, std::less<>> PolicyReader::agent_action_tiers(
    std::string_view member) {
  std::map<std::string, TierTable, std::less<>> tables;
  if (!in_.has(member)) return tables;
  const json::object& agents = in_.object(member);
  PolicyReader inner(agents, in_.place(member));
  for (const json::key_value_pair& agent : agents) {
    inner.check_agent(agent.key(), agent.key());
    tables[agent.key()] = inner.action_tiers(agent.key());
  }
  take_fault(inner);
  return tables;
}

TierTable PolicyReader::tiers(std::string_view member, Names names) {
  TierTable table;
  if (!in_.has(member)) return table;
  const json::object& members = in_.object(member);
  PolicyReader inner(members, in_.place(member));
  for (const json::key_value_pair& entry : members) {
    if (entry.key().empty()) inner.refuse("", "has a member without a name");
    if (names == Names::Actions) inner.check_action(entry.key(), entry.key());
    if (names == Names::Agents) inner.check_agent(entry.key(), entry.key());
    if (entry.value().is_null()) inner.refuse(entry.key(), "must be a tier");
    if (const std::optional<Autonomy> tier = inner.tier(entry.key())) table[entry.key()] = *tier;
  }
  take_fault(inner);
  return table;
}

// Names are compared literally: a pattern would match nothing and give false safety.
bool is_action_name(std::string_view action) {
  return action.find_first_of("*?[]{}|^$() \t\n") == std::string_view::npos;
}

void PolicyReader::check_action(std::string_view member, std::string_view action) {
  if (is_action_name(action)) return;
  in_.refuse(member, "is a pattern, name a tool or a class of effects such as `fs.write`");
}

// Scopes take patterns, so people write them here too.
void PolicyReader::check_agent(std::string_view member, std::string_view agent) {
  if (agent.find_first_of("*?[]") == std::string_view::npos) return;
  in_.refuse(member,
             "is a pattern, name an agent, or use a scope with `for: {agent: ...}`, which takes "
             "patterns");
}

PolicyReader PolicyReader::inner(std::string_view member) {
  return {in_.object(member), in_.place(member)};
}

void PolicyReader::take_fault(const PolicyReader& inner) {
  if (!inner.ok()) in_.take(inner.error());
}

}  // namespace sallyport::autonomy
