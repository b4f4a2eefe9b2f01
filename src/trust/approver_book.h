// The people of a policy, as those who decide about a held call see them (AP-10, AP-28).
#pragma once

#include <map>
#include <string_view>

#include "base/guarded.h"
#include "core/plan/approval_rules.h"
#include "trust/control.h"

namespace sallyport::trust {

// `sha256:` and hex of a token, which is all that a policy holds of it.
std::string token_digest(std::string_view token);

class ApproverBook final : public core::ReviewerBook {
 public:
  explicit ApproverBook(Reviewers people) : people_(std::move(people)) {}

  // A person with a key must have signed. For a person with only a token or a client, the front
  // that took the answer has checked it.
  Result<void> check(const std::string& reviewer, std::string_view statement,
                     std::string_view signature) const override;
  // Accepts a signature of a key, or of a passkey or browser key that leads back to it.
  Result<void> check_answer(const std::string& reviewer, std::string_view statement,
                            std::string_view signature,
                            const std::vector<std::string>& enrolled) const override;
  // Each statement is checked once.
  Result<void> check_control(const std::string& reviewer, std::string_view statement,
                             std::string_view signature) const override;
  std::string credential(const std::string& reviewer) const override;
  bool is_program(const std::string& reviewer) const override;
  std::string of_client(const std::string& principal) const override;
  std::vector<std::string> with_role(std::string_view role) const override;
  json::value dump() const override;

 private:
  Reviewers people_;
  // Results by statement and signature. Few, because facts hold few.
  mutable Guarded<std::map<std::string, Result<void>, std::less<>>> controls_;
};

}  // namespace sallyport::trust
