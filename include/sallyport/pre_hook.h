// A pre-hook is a function of the host that decides before a tool runs. Its JSON shapes are fixed
// (EV-64, EV-65).
//
//   Result<PreHookDecision> decide(const PreHookContext& context) {
//     if (context.input_json.contains("rm -rf")) return PreHookDecision::deny("no mass deletion");
//     return PreHookDecision::allow();
//   }
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sallyport/classification.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

// A value. What a pre-hook is asked. Event hooks see redacted text; a pre-hook sees the real input.
struct PreHookContext {
  std::string agent_id{};
  std::string tool_name{};
  std::string tool_call_id{};
  std::string input_json{};
  std::optional<std::string> working_directory{};
  std::string session_id{};
  std::string call_id{};
  std::string server{};
  Tier tier = Tier::Confirm;
  std::string effect_class{};
  std::uint64_t pass = 1;

  bool operator==(const PreHookContext&) const = default;
};

json::object to_json(const PreHookContext& context);
// `InvalidInput` names the member that is missing, has a wrong type or an unknown word.
Result<PreHookContext> pre_hook_context_from_json(const json::value& value,
                                                  std::string where = "context");

// A value. What a pre-hook decides.
struct PreHookDecision {
  enum class Kind { Allow, Deny, Modify };

  Kind kind = Kind::Allow;
  std::string input_json{};             // `Modify`: the new input, one JSON value
  std::optional<std::string> reason{};  // `Deny` always has one

  static PreHookDecision allow() { return {}; }
  static PreHookDecision deny(std::string reason) { return {Kind::Deny, {}, std::move(reason)}; }
  static PreHookDecision modify(std::string input_json, std::optional<std::string> reason = {}) {
    return {Kind::Modify, std::move(input_json), std::move(reason)};
  }

  bool operator==(const PreHookDecision&) const = default;
};

json::object to_json(const PreHookDecision& decision);
// Reads exactly the three shapes. Anything else is `InvalidInput`; as the answer of a hook it
// denies the call.
Result<PreHookDecision> pre_hook_decision_from_json(const json::value& value,
                                                    std::string where = "decision");

}  // namespace sallyport
