// Denies deceptive forms of tool servers: a form that claims to come from Sallyport, asks for a
// passphrase, or asks for any other secret in the form and not on a separate page. The protocol
// forbids servers to ask for secrets in forms.
#pragma once

#include "core/plan/guard.h"

namespace sallyport::guards {

// Judges only `elicitation/create`. Immutable.
class FormGuard final : public core::Guard {
 public:
  FormGuard();
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext& context) const override;

 private:
  core::GuardTraits traits_;
};

}  // namespace sallyport::guards
