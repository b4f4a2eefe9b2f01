// Reads the members of an autonomy policy and refuses unknown ones. After the first fault every
// read returns an empty value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "autonomy/autonomy_policy.h"
#include "base/object_reader.h"

namespace sallyport::autonomy {

// True for the literal name of a tool or class of effects; false for a pattern.
bool is_action_name(std::string_view action);

class PolicyReader {
 public:
  PolicyReader(const json::value& value, std::string where);
  PolicyReader(const json::object& object, std::string where);

  // A member that is not in `known` is a fault.
  void only(std::initializer_list<std::string_view> known);

  // False if the member is absent or `null`.
  bool has(std::string_view name) const { return in_.has(name); }
  std::optional<std::string> name(std::string_view member);
  std::optional<Autonomy> tier(std::string_view member);
  bool flag(std::string_view member);
  std::optional<std::uint64_t> count(std::string_view member, std::uint64_t least,
                                     std::uint64_t most);
  std::vector<std::string> names(std::string_view member);    // at least one, each once
  std::vector<std::string> actions(std::string_view member);  // the same, for tools and classes
  std::vector<std::string> agents(std::string_view member);   // the same, for agents
  TierTable agent_tiers(std::string_view member);
  TierTable action_tiers(std::string_view member);
  std::map<std::string, TierTable, std::less<>> agent_action_tiers(std::string_view member);

  PolicyReader inner(std::string_view member);
  void refuse(std::string_view member, std::string_view problem) { in_.refuse(member, problem); }
  void take_fault(const PolicyReader& inner);
  bool ok() const { return in_.ok(); }
  const Error& error() const { return in_.error(); }

 private:
  enum class Names { Agents, Actions };
  TierTable tiers(std::string_view member, Names names);
  void check_action(std::string_view member, std::string_view action);
  void check_agent(std::string_view member, std::string_view agent);

  const json::object* object_;
  ObjectReader in_;
};

}  // namespace sallyport::autonomy
