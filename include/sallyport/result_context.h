// What a result guard can see beside the result itself (PI-18).
//
//   Result<Verdict> judge(const Envelope&, const ResultContext& context) {
//     if (!context.call) return Verdict::deny("this guard needs `call`");
//     if (context.is_error || context.call->agent_id == "agent:auditor") return Verdict::allow();
//     return Verdict::escalate("read by " + context.call->agent_id);
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sallyport/call.h"
#include "sallyport/scope.h"

namespace sallyport {

namespace core {
struct ResultRules;
struct CallSurroundings;
}  // namespace core

// A context made from a tool's name alone (a dry run) holds that and nothing else.
struct ResultContext {
  std::string tool{};
  std::shared_ptr<const Call> call{};    // with its final input, its agent, server and session
  std::shared_ptr<const Scope> scope{};  // the grants of the presented token
  std::string effect_class{};
  std::string policy_hash{};
  std::optional<std::uint64_t> matched_grant_index{};  // into `scope->grants`
  bool is_error = false;
  std::shared_ptr<const core::ResultRules> rules{};        // of the policy that judge this result
  std::shared_ptr<const core::CallSurroundings> around{};  // for guards in other programs
};

}  // namespace sallyport
