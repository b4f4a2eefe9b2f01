// Refuses the calls of all agents except the one that the policy is for (AT-10).
//
//   plan.guard(std::make_shared<const AgentGuard>("deploy-bot"));
#pragma once

#include <string>

#include "core/plan/guard.h"

namespace sallyport::autonomy {

class AgentGuard final : public core::Guard {
 public:
  explicit AgentGuard(std::string agent);
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext& context) const override;

 private:
  std::string agent_;
  core::GuardTraits traits_;
};

}  // namespace sallyport::autonomy
