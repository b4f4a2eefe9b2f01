// Reads the members of an autonomy policy, and refuses those that it does not know. After the first
// fault every read gives an empty value.
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

// A tool or a class of effects as it is called, and no pattern.
bool is_action_name(std::string_view action);

class PolicyReader {
 public:
  PolicyReader(const json::value& value, std::string where);
  PolicyReader(const json::object& object, std::string where);

  // Every other member is a fault.
  void only(std::initializer_list<std::string_view> known);

  // Absent and `null` give nothing.
  bool has(std::string_view name) const { return in_.has(name); }
  std::optional<std::string> name(std::string_view member);
  std::optional<Autonomy> tier(std::string_view member);
  bool flag(std::string_view member);
  std::optional<std::uint64_t> count(std::string_view member, std::uint64_t least,
                                     std::uint64_t most);
  std::vector<std::string> names(std::string_view member);    // at least one, each once
  std::vector<std::string> actions(std::string_view member);  // the same, of tools and classes
  TierTable agent_tiers(std::string_view member);
  TierTable action_tiers(std::string_view member);
  std::map<std::string, TierTable, std::less<>> agent_action_tiers(std::string_view member);

  PolicyReader inner(std::string_view member);
  void refuse(std::string_view member, std::string_view what) { in_.refuse(member, what); }
  void take_fault(const PolicyReader& inner);
  bool ok() const { return in_.ok(); }
  const Error& error() const { return in_.error(); }

 private:
  enum class Names { Agents, Actions };
  TierTable tiers(std::string_view member, Names names);
  void check_action(std::string_view member, std::string_view action);

  const json::object* object_;
  ObjectReader in_;
};

}  // namespace sallyport::autonomy
