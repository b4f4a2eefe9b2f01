// The context of a result: what a result guard knows in addition to the result (PI-18).
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

// A value. In a dry run only `tool` is set.
struct ResultContext {
  std::string tool{};
  std::shared_ptr<const Call> call{};    // with its final input, agent, server and session
  std::shared_ptr<const Scope> scope{};  // the grants of the presented token
  std::string effect_class{};
  std::string policy_hash{};
  std::optional<std::uint64_t> matched_grant_index{};  // index into `scope->grants`
  bool is_error = false;
  std::shared_ptr<const core::ResultRules> rules{};        // the policy rules about this result
  std::shared_ptr<const core::CallSurroundings> around{};  // for guards in other programs
};

}  // namespace sallyport
