// Says in the record of a call which event of which host it came with. Never stops anything.
#pragma once

#include "core/guard.h"

namespace sallyport::hook {

class OriginGuard final : public core::Guard {
 public:
  // `told`: what is known of the event that this process was started for. The plan's hash is the
  // same whatever it says.
  explicit OriginGuard(json::value told);
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext& context) const override;

 private:
  core::GuardTraits traits_;
  json::value told_;
};

}  // namespace sallyport::hook
