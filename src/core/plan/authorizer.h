// The host's authorizer as one more guard of the plan (EV-87, EV-88).
#pragma once

#include <functional>

#include "core/plan/guard.h"
#include "sallyport/authorizer.h"

namespace sallyport::core {

class AuthorizerGuard final : public Guard {
 public:
  using Authorize = std::function<Task<Authorization>(AuthorizationRequest)>;
  AuthorizerGuard(std::string name, Authorize authorize, bool waits = false,
                  std::optional<std::chrono::milliseconds> limit = {}, json::value settings = {});

  const GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const GuardContext& context) const override;

 private:
  GuardTraits traits_;
  Authorize authorize_;
};

}  // namespace sallyport::core
