// Denies forms of a tool server that pass for something else: a form that speaks for Sallyport, or
// asks for a passphrase, or, in a form and not on a page of its own, for any other secret. The
// protocol forbids servers to ask for secrets in forms.
#pragma once

#include "core/plan/guard.h"

namespace sallyport::guards {

// Looks at `elicitation/create` alone. Immutable.
class FormGuard final : public core::Guard {
 public:
  FormGuard();
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext& context) const override;

 private:
  core::GuardTraits traits_;
};

}  // namespace sallyport::guards
