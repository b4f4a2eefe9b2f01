// A pre-execution hook as one more guard of the plan (EV-64..EV-76).
#pragma once

#include <functional>

#include "core/plan/guard.h"
#include "sallyport/pre_hook.h"

namespace sallyport::core {

class PreHookGuard final : public Guard {
 public:
  using Decide = std::function<Task<PreHookDecision>(PreHookContext)>;

  // `rewrites`: registered as `rewrite`, and so run once, before the hooks that decide.
  struct Options {
    bool rewrites = false;
    bool waits = false;
    std::optional<std::chrono::milliseconds> limit{};
    json::value settings{};
  };
  PreHookGuard(std::string name, Decide decide, Options options);

  const GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const GuardContext& context) const override;

 private:
  GuardTraits traits_;
  Decide decide_;
};

}  // namespace sallyport::core
