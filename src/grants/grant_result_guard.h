// Keeps a result from an agent whose grant lets it call and not see (CG-47). Last of the result
// guards, so that the others have looked at what is withheld.
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
