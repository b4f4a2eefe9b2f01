// The first guard. If the policy requires a grant, the call must present a token that allows it.
//
//   auto guard = std::make_shared<GrantGuard>(
//       GrantGuard::Settings{.trusted_issuers = {"ed25519:03a1..."}, .required = {{"*", "*"}}},
//       recorder, clock);
//   builder.guard(guard).result_guard(std::make_shared<GrantResultGuard>());
//
// The guard chooses the grant before other guards decide. The Governor charges its budget with the
// first record that needs it. A guard may be used from any number of threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/plan/guard.h"
#include "core/record/record_reader.h"
#include "grants/checks.h"
#include "grants/digest_cache.h"
#include "grants/failure_limit.h"

namespace sallyport::grants {

class GrantGuard final : public core::Guard {
 public:
  struct Requirement {
    std::string server = "*";
    std::string tool = "*";
    std::string agent = "*";
  };
  struct Settings {
    TrustedIssuers trusted_issuers{};
    std::vector<Requirement> required{};  // calls that match none of them need no grant
    bool filters_rows = false;            // the hook `query-result` is in the plan
    FailureLimit::Settings failures{};
    std::size_t cached_tokens = 256;
  };

  // `reader` and `clock` must outlive the guard.
  GrantGuard(Settings settings, core::RecordReader& reader, const Clock& clock);

  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext& context) const override;

 private:
  struct Found;

  Result<Verdict> decide(const Call& call, const core::GuardContext& context) const;
  bool needs_grant(const Call& call) const;
  Found find(const Call& call) const;
  bool has_good_signature(const Token& link) const;
  Result<std::optional<Failure>> check(const Examined& token, const Call& call,
                                       core::RecordReader& reader) const;
  struct Choice;
  Result<Choice> choose(const Examined& token, const Call& call,
                        const core::GuardContext& context) const;

  Settings settings_;
  core::RecordReader& reader_;
  const Clock& clock_;
  core::GuardTraits traits_;
  mutable DigestCache<std::shared_ptr<const Examined>> cache_;
  mutable DigestCache<bool> signatures_;  // of links; valid ones only
  mutable FailureLimit failures_;
};

}  // namespace sallyport::grants
