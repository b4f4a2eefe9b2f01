// The section `model` of a policy.
//
//   model:
//     allow: {reader: ["*-mini"], "*": ["claude-*", "gpt-*"]}   # or one list for all
//     tool_calls: hand_off                                      # or {agent: mode, "*": mode}
//     hold_s: 50
//     budgets: [{agent: "*", per: day, tokens: 2000000, cost_usd: 5}]
#pragma once

#include "config/mapping.h"
#include "policy/policy.h"

namespace sallyport::policy {

config::Mapping model_keys(Policy& out);

}  // namespace sallyport::policy
