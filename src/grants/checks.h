// The checks of a token in their order (CG-13), each with the one code of its failure (CG-14).
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

// Keys whose tokens count, as tokens write them.
using TrustedIssuers = std::set<std::string, std::less<>>;

// One grant of a leaf, ready to be matched.
struct ReadyGrant {
  Terms terms;
  std::vector<Condition> conditions;
  core::Spending spending{};  // only where the delegation is good
};

// A token and everything about it that depends on neither time, revocation nor budget: what may be
// kept under its digest (CG-65). Its signatures are good.
struct Examined {
  TokenChain chain;
  std::optional<std::string> broken_link;
  std::vector<ReadyGrant> grants;  // of the leaf
  std::shared_ptr<const Scope> scope;
};

struct Examination {
  std::shared_ptr<const Examined> token{};  // null: `failure` says why
  std::optional<Failure> failure{};
  std::optional<TokenChain> chain{};  // of a token that has a form and no good signature
};
// Does the signature of a link belong to its issuer? `signed_by_issuer`, or a cache that remembers
// what that said.
using IsSigned = std::function<bool(const Token&)>;
Examination examine(std::string_view text, const TrustedIssuers& trusted,
                    const IsSigned& is_signed = signed_by_issuer);

// Of a token that was examined under another list (a policy that changed since).
std::optional<Failure> check_issuer(const TokenChain& chain, const TrustedIssuers& trusted);

std::optional<Failure> check_time(const TokenChain& chain, WallTime now);

// True if a token of this id is revoked.
using IsRevoked = std::function<Result<bool>(const std::string& id)>;
Result<std::optional<Failure>> check_revocation(const TokenChain& chain, const IsRevoked& revoked);

std::optional<Failure> check_delegation(const Examined& token);
std::optional<Failure> check_subject(const TokenChain& chain, std::string_view principal);

// Why each grant that does not fit was passed over.
struct PassedOver {
  std::size_t index = 0;
  std::string why;
};

// The grants that fit but for their budgets, best first (CG-35).
struct Fitting {
  std::vector<std::size_t> order;
  std::vector<PassedOver> passed_over;
};
Fitting fitting(const Examined& token, const CallView& view);

}  // namespace sallyport::grants
