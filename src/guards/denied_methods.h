// Denies requests of the Model Context Protocol by the name of their method. A call that is no call
// of a tool has that name, and no tool may have it.
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
