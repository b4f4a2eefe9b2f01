// The checks of a token, in order (CG-13). Each failure has one code (CG-14).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "grants/constraint.h"
#include "grants/signer.h"
#include "grants/token.h"

namespace sallyport::grants {

enum class Check { Form, Signature, Time, Revocation, Delegation, Subject, Scope, Budget };
inline constexpr auto kChecks =
    std::to_array<Check>({Check::Form, Check::Signature, Check::Time, Check::Revocation,
                          Check::Delegation, Check::Subject, Check::Scope, Check::Budget});
std::string_view to_string(Check check);

struct Failure {
  std::string_view code;  // of CG-14
  Check check = Check::Form;
  std::string detail{};
};

// Keys of trusted issuers, as written in tokens.
using TrustedIssuers = std::set<std::string, std::less<>>;

// One grant of a leaf, ready to be matched.
struct ReadyGrant {
  Terms terms;
  std::vector<Condition> conditions;
  core::Spending spending{};  // only if the delegation is valid
};

// A token with valid signatures, and all findings that do not depend on time, revocation or budget.
// It may be cached by its digest (CG-65).
struct Examined {
  TokenChain chain;
  std::optional<std::string> broken_link;
  std::vector<ReadyGrant> grants;  // of the leaf
  std::shared_ptr<const Scope> scope;
};

struct Examination {
  std::shared_ptr<const Examined> token{};  // null: see `failure`
  std::optional<Failure> failure{};
  std::optional<TokenChain> chain{};  // of a well-formed token without a valid signature
};
// True if the issuer of a link signed it: `signed_by_issuer`, or a cache of its results.
using IsSigned = std::function<bool(const Token&)>;
Examination examine(std::string_view text, const TrustedIssuers& trusted,
                    const IsSigned& is_signed = signed_by_issuer);

// Checks a token that was examined under another list, because the policy has changed since.
std::optional<Failure> check_issuer(const TokenChain& chain, const TrustedIssuers& trusted);

std::optional<Failure> check_time(const TokenChain& chain, WallTime now);

// True if a token of this id is revoked.
using IsRevoked = std::function<Result<bool>(const std::string& id)>;
Result<std::optional<Failure>> check_revocation(const TokenChain& chain, const IsRevoked& revoked);

std::optional<Failure> check_delegation(const Examined& token);
std::optional<Failure> check_subject(const TokenChain& chain, std::string_view principal);

// A grant that does not fit, and why.
struct PassedOver {
  std::size_t index = 0;
  std::string why;
};

// The grants that fit, best first, without a check of their budgets (CG-35).
struct Fitting {
  std::vector<std::size_t> order;
  std::vector<PassedOver> passed_over;
};
Fitting fitting(const Examined& token, const CallView& view);

}  // namespace sallyport::grants
