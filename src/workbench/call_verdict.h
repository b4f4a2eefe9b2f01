// What a policy says about a call, and which part of it says so, as closed sets (WB-2, WB-26). Words
// are for reports; the code compares enumerators.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sallyport::app {

// From the least to the most open.
enum class CallVerdict : std::uint8_t {
  Refused,
  Shadow,
  Proposed,
  Asks,
  Runs,
  Undecided,  // something that decides is not known
};
std::string_view to_string(CallVerdict verdict);
std::optional<CallVerdict> call_verdict_from(std::string_view word);
// All words, in the order in which errors list them.
std::vector<std::string_view> call_verdict_words();

// The parts that decide.
enum class CauseKind : std::uint8_t {
  Check,
  Rule,
  Unlisted,  // no rule decides an effect of the call
  Tier,
  Grant,
  Pin,
  Guard,
  Call,   // the call itself, such as an expired preparation
  Tool,   // the classification of the tool in the policy
  Class,  // any other classification
};
std::string_view to_string(CauseKind kind);

}  // namespace sallyport::app
