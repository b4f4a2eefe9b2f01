// Denies requests of the Model Context Protocol by method name. A request that is not a tool call
// has its method as its name, and no tool may have such a name.
#pragma once

#include <set>
#include <string>

#include "core/plan/guard.h"

namespace sallyport::guards {

class DeniedMethods final : public core::Guard {
 public:
  explicit DeniedMethods(std::set<std::string> methods);
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext& context) const override;

 private:
  std::set<std::string> methods_;
  core::GuardTraits traits_;
};

}  // namespace sallyport::guards
