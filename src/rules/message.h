// Messages about a rule for the agent and the approver (RU-71, RU-72).
#pragma once

#include <string>

#include "rules/rule_set.h"

namespace sallyport::rules {

inline constexpr std::size_t kLongestMessage = 1000;  // characters

// The message of a rule for the first effect that it matched. If the rule has no message, one is
// made from that effect. `why`: what failed in a rule with `only`.
std::string message_of(const Rule& rule, const RuleMatch& match, const effects::Effects& effects,
                       const Scene& scene, const std::string& why);

// The same for a rule that judges results. Empty if the rule adds nothing to its test.
std::string result_message(const Rule& rule, const RuleMatch& match,
                           const effects::Effects& effects, const Scene& scene);

// The command as a person would type it, as far as its words are known.
std::string command_text(const effects::Command& command);

// The first `${...}` that a message may not contain. No value: all variables are known.
std::optional<std::string> unknown_variable(std::string_view message);

}  // namespace sallyport::rules
