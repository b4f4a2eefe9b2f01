#include "rules/rule_index.h"

#include <functional>
#include <string_view>
#include <vector>

#include "effects/path_text.h"
#include "effects/program_table.h"

namespace sallyport::rules {

namespace {

constexpr std::uint64_t kPath = 1;
constexpr std::uint64_t kHost = 2;

std::uint64_t bit_of(std::string_view name) {
  return std::uint64_t{1} << (std::hash<std::string_view>{}(name) % 63);
}

// With `wildcards`, a name with `*` counts as no condition.
std::uint64_t bits_of(const std::vector<std::string>& names, bool wildcards = false) {
  std::uint64_t bits = names.empty() ? RuleKey::kNoCondition : 0;
  for (const std::string& name : names) {
    bits |= wildcards && name.contains('*') ? RuleKey::kNoCondition : bit_of(name);
  }
  return bits;
}

// Uses the last segment and one name for all aliases, so it is wider than any match (RU-51).
std::uint64_t program_bit(std::string_view program) {
  return bit_of(effects::program_alias(effects::last_segment(program)));
}

std::uint64_t program_bits(const std::vector<effects::CommandPattern>& patterns) {
  std::uint64_t bits = patterns.empty() ? RuleKey::kNoCondition : 0;
  for (const effects::CommandPattern& pattern : patterns) {
    const bool plain = !pattern.run.empty() && !pattern.run.front().contains('/');
    bits |= plain ? program_bit(pattern.run.front()) : RuleKey::kNoCondition;
  }
  return bits;
}

std::uint64_t program_bits(const effects::Command& command) {
  if (command.words.empty() || !command.words.front().known()) return RuleKey::kAll;
  // A program without a profile may run its arguments (RU-53).
  if (!command.has_profile) return RuleKey::kAll;
  std::uint64_t bits = 0;
  for (const std::string& value : command.words.front().values) bits |= program_bit(value);
  return bits;
}

// The bits of an agent and of each of its parent agents.
std::uint64_t agent_bits(std::string_view agent) {
  std::uint64_t bits = bit_of(agent);
  for (std::size_t at = agent.find('/'); at != std::string_view::npos;
       at = agent.find('/', at + 1)) {
    bits |= bit_of(agent.substr(0, at));
  }
  return bits;
}

std::uint64_t part_bits(const Conditions& conditions) {
  if (conditions.names_paths()) return kPath;
  return conditions.host.empty() ? RuleKey::kNoCondition : kHost;
}

std::uint64_t path_bits(const std::vector<Glob>& globs) {
  std::uint64_t bits = globs.empty() ? RuleKey::kNoCondition : 0;
  for (const Glob& glob : globs) bits |= glob.feature().value_or(RuleKey::kNoCondition);
  return bits;
}

}  // namespace

RuleKey key_of(const Rule& rule) {
  RuleKey key{.allowing = allows_only(rule), .expires = rule.expires.has_value()};
  if (rule.when.empty()) return key;
  key.agents = key.servers = key.tools = key.classes = key.programs = key.parts = key.paths = 0;
  for (const Conditions& conditions : rule.when) {
    key.agents |= bits_of(conditions.agent);
    key.servers |= bits_of(conditions.server);
    key.tools |= bits_of(conditions.tool, true);
    key.classes |= bits_of(conditions.effect_class);
    key.programs |= program_bits(conditions.command);
    key.parts |= part_bits(conditions);
    key.paths |= path_bits(conditions.path);
  }
  return key;
}

RuleIndex index_of(const RuleSet& set) {
  RuleIndex index;
  for (const Rule& rule : set.rules) index.push_back(key_of(rule));
  return index;
}

RuleKey key_of(const effects::CallFacts& facts, const effects::Effects& effects, bool allowing) {
  RuleKey key;
  key.agents |= agent_bits(facts.call.agent_id);
  key.servers |= bit_of(facts.call.server);
  key.tools |= bit_of(facts.call.tool);
  for (const effects::Effect& effect : effects.effects) {
    if (effect.opaque && !allowing) {
      key.classes = key.programs = key.parts = RuleKey::kAll;
      break;
    }
    key.classes |= bit_of(effect.effect_class);
    if (effect.command) key.programs |= program_bits(*effect.command);
    if (effect.path) key.parts |= kPath;
    if (effect.host) key.parts |= kHost;
  }
  return key;
}

}  // namespace sallyport::rules
