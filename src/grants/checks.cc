#include "grants/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/try.h"
#include "grants/delegation.h"
#include "grants/spending.h"

namespace sallyport::grants {

namespace {

std::shared_ptr<const Scope> scope_of(const Token& token) {
  auto scope = std::make_shared<Scope>();
  for (const Terms& terms : token.grants) {
    scope->grants.push_back({.server = terms.server,
                             .tool = terms.tool,
                             .constraints = terms.constraints,
                             .reads_result = terms.operations.read_result});
  }
  return scope;
}

std::vector<ReadyGrant> ready(const Token& token) {
  std::vector<ReadyGrant> grants;
  for (const Terms& terms : token.grants) {
    ReadyGrant grant{.terms = terms, .conditions = {}, .spending = {}};
    for (const Constraint& constraint : terms.constraints) {
      grant.conditions.push_back(Condition::of(constraint));
    }
    grants.push_back(std::move(grant));
  }
  return grants;
}

std::optional<Failure> check_signatures(const TokenChain& chain, const IsSigned& is_signed) {
  for (std::size_t i = 0; i < chain.links.size(); ++i) {
    if (is_signed(chain.links[i])) continue;
    return Failure{"grant_signature", Check::Signature,
                   fmt::format("the signature of step {} is not that of its issuer", i)};
  }
  return std::nullopt;
}

bool is_or_any(std::string_view pattern, std::string_view name) {
  return pattern == "*" || pattern == name;
}

// Returns the first condition that does not hold.
std::optional<std::string> misfit(const ReadyGrant& grant, const CallView& view) {
  const Terms& terms = grant.terms;
  if (!is_or_any(terms.server, view.call.server)) return "server";
  if (!is_or_any(terms.tool, view.call.tool)) return "tool";
  if (!terms.operations.invoke) return "operations: no `invoke`";
  for (const Condition& condition : grant.conditions) {
    if (condition.matches(view)) continue;
    return condition.fault().empty() ? condition.type()
                                     : fmt::format("{}: {}", condition.type(), condition.fault());
  }
  if (terms.max_invocations == 0) return "max_invocations is 0";
  if (terms.rate && terms.rate->max == 0) return "rate.max is 0";
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Check check) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"form", "signature", "time", "revocation", "delegation", "subject", "scope", "budget"});
  static_assert(kNames.size() == static_cast<std::size_t>(Check::Budget) + 1);
  return kNames[static_cast<std::size_t>(check)];
}

Examination examine(std::string_view text, const TrustedIssuers& trusted,
                    const IsSigned& is_signed) {
  Result<TokenChain> chain = read_token(text);
  if (!chain) {
    return {.failure = Failure{"grant_malformed", Check::Form, std::move(chain.error().message)}};
  }
  std::optional<Failure> failure = check_issuer(*chain, trusted);
  if (!failure) failure = check_signatures(*chain, is_signed);
  if (failure) return {.failure = std::move(failure), .chain = std::move(*chain)};
  auto examined = std::make_shared<Examined>();
  examined->chain = std::move(*chain);
  examined->broken_link = broken_link(examined->chain);
  // A chain that is refused costs no patterns.
  if (!examined->broken_link) examined->grants = ready(examined->chain.leaf());
  for (std::size_t i = 0; i < examined->grants.size(); ++i) {
    examined->grants[i].spending = spending_of(examined->chain, i);
  }
  examined->scope = scope_of(examined->chain.leaf());
  return {.token = std::move(examined)};
}

// Here every link without a parent counts as a root; `broken_link` later refuses a wrong order. A
// chain without a root is refused first, so that no caller makes us check signatures of unknown issuers
// (CG-33).
std::optional<Failure> check_issuer(const TokenChain& chain, const TrustedIssuers& trusted) {
  bool rooted = false;
  for (const Token& link : chain.links) {
    if (link.parent) continue;
    rooted = true;
    if (trusted.contains(link.issuer)) continue;
    return Failure{"grant_untrusted_issuer", Check::Signature,
                   fmt::format("`{}` is not a trusted issuer", link.issuer)};
  }
  if (rooted) return std::nullopt;
  return Failure{"grant_delegation", Check::Delegation, "the root of the chain is missing"};
}

std::optional<Failure> check_time(const TokenChain& chain, WallTime now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const Token& leaf = chain.leaf();
  const auto at = [](std::uint64_t second) {
    // Beyond the calendar: use the last moment that can be written as text.
    constexpr std::uint64_t kLast = 253402300799;
    return rfc3339(WallTime(std::chrono::seconds(std::min(second, kLast))));
  };
  if (seconds < 0 || static_cast<std::uint64_t>(seconds) < leaf.issued_at) {
    return Failure{"grant_not_yet_valid", Check::Time, "valid from " + at(leaf.issued_at)};
  }
  if (static_cast<std::uint64_t>(seconds) >= leaf.expires_at) {
    return Failure{"grant_expired", Check::Time, "expired at " + at(leaf.expires_at)};
  }
  return std::nullopt;
}

Result<std::optional<Failure>> check_revocation(const TokenChain& chain, const IsRevoked& revoked) {
  for (auto link = chain.links.rbegin(); link != chain.links.rend(); ++link) {
    SALLYPORT_TRY(const bool hit, revoked(link->id));
    if (hit) {
      return Failure{"grant_revoked", Check::Revocation, fmt::format("`{}` is revoked", link->id)};
    }
  }
  return std::nullopt;
}

std::optional<Failure> check_delegation(const Examined& token) {
  if (!token.broken_link) return std::nullopt;
  return Failure{"grant_delegation", Check::Delegation, *token.broken_link};
}

std::optional<Failure> check_subject(const TokenChain& chain, std::string_view principal) {
  if (chain.leaf().principal == principal) return std::nullopt;
  return Failure{"grant_subject", Check::Subject,
                 fmt::format("the grant is for `{}`", chain.leaf().principal)};
}

Fitting fitting(const Examined& token, const CallView& view) {
  Fitting fitting;
  for (std::size_t i = 0; i < token.grants.size(); ++i) {
    if (std::optional<std::string> why = misfit(token.grants[i], view)) {
      fitting.passed_over.push_back({i, std::move(*why)});
    } else {
      fitting.order.push_back(i);
    }
  }
  const auto rank = [&](std::size_t i) {
    const Terms& terms = token.grants[i].terms;
    return std::tuple(terms.server == "*", terms.tool == "*", kMostBytes - terms.constraints.size(),
                      i);
  };
  std::ranges::sort(fitting.order, {}, rank);
  return fitting;
}

}  // namespace sallyport::grants
