// Withholds a result if the grant allows the call but not reading its result (CG-47). It is the
// last result guard, so that the others have checked the result too.
#pragma once

#include "core/plan/guard.h"

namespace sallyport::grants {

inline constexpr std::string_view kWithheldNotice = "[result withheld by grant]";

class GrantResultGuard final : public core::ResultGuard {
 public:
  GrantResultGuard();
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Envelope& result, const ResultContext& context) const override;

 private:
  core::GuardTraits traits_;
};

}  // namespace sallyport::grants
