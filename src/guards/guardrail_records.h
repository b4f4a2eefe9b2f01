// Builds the entries of an evaluation: every hit, and which checks ran (GR-72, GR-73).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/check/guardrails.h"
#include "sallyport/verdict.h"

namespace sallyport::guards {

// The evidence of the parts of one result, which were evaluated one by one.
json::object evidence_of(const guardrails::Guardrails& guardrails,
                         const std::vector<guardrails::Evaluation>& seen);
// Whether the ledger stores found texts. It never stores a removed text.
enum class Excerpts : std::uint8_t { Withheld, Kept };

std::vector<Finding> findings_of(const guardrails::Guardrails& guardrails,
                                 const std::vector<guardrails::Evaluation>& seen, Excerpts excerpts,
                                 std::optional<std::string_view> tool);

// The body of an entry of kind `guard_hit`. `channel`: the text of a message, for a stream.
Finding finding_of(const guardrails::Guardrails& guardrails, const guardrails::Hit& hit,
                   const json::value& channel, std::uint64_t released_bytes, Excerpts excerpts);

// The label of the first check with this action; empty: none.
std::string first_label(const guardrails::Evaluation& seen, guardrails::Action action);

}  // namespace sallyport::guards
