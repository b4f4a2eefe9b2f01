#include "autonomy/scope_stack.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "autonomy/tier.h"
#include "base/smaller_of.h"
#include "base/try.h"

namespace sallyport::autonomy {

Result<Bounds> Bounds::narrowed(const AutonomyPolicy& inner) const {
  Bounds narrow{
      .reviewers = reviewers.empty() ? inner.reviewers : std::vector<std::string>{},
      .quorum = std::max(quorum, inner.quorum.value_or(1)),
      .deadline_s = smaller_of(deadline_s, inner.deadline_s),
      .use_within_s = smaller_of(use_within_s, inner.use_within_s),
      .budget = {.max_per_hour = smaller_of(budget.max_per_hour, inner.budget.max_per_hour),
                 .max_per_day = smaller_of(budget.max_per_day, inner.budget.max_per_day)}};
  for (const std::string& reviewer : reviewers) {
    const bool kept = inner.reviewers.empty() ||
                      std::ranges::find(inner.reviewers, reviewer) != inner.reviewers.end();
    if (kept) narrow.reviewers.push_back(reviewer);
  }
  if (!reviewers.empty() && narrow.reviewers.empty()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("none of the reviewers `{}` may review here, only `{}` may",
                            fmt::join(inner.reviewers, "`, `"), fmt::join(reviewers, "`, `")),
                "reviewers");
  }
  if (!narrow.reviewers.empty() && narrow.quorum > narrow.reviewers.size()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} approvals are needed and only `{}` may give one", narrow.quorum,
                            fmt::join(narrow.reviewers, "`, `")),
                "quorum");
  }
  return narrow;
}

ScopeStack::ScopeStack(const AutonomyPolicy& base) {
  // The policy of the plan was checked when it was loaded.
  if (Result<Bounds> bounds = Bounds{}.narrowed(base)) bounds_.front() = std::move(*bounds);
}

Result<ScopeStack::Entered> ScopeStack::enter(AutonomyPolicy scope,
                                              std::string_view authenticated) {
  SALLYPORT_CHECK_OK(add(std::move(scope), authenticated));
  return Entered(*this);
}

Result<void> ScopeStack::add(AutonomyPolicy scope, std::string_view authenticated) {
  if (!authenticated.empty() && scope.agent_id && *scope.agent_id != authenticated) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("the scope is for agent `{:.60}`, but `{:.60}` is the one who acts",
                            *scope.agent_id, authenticated),
                "agent_id");
  }
  return add_shared(std::make_shared<const AutonomyPolicy>(std::move(scope)));
}

Result<void> ScopeStack::add_all(const ScopeStack& other) {
  for (const auto& scope : other.scopes_) SALLYPORT_CHECK_OK(add_shared(scope));
  return {};
}

Result<void> ScopeStack::add_shared(std::shared_ptr<const AutonomyPolicy> scope) {
  constexpr std::size_t kMostScopes = 16;
  if (scopes_.size() == kMostScopes) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("there are {} scopes around the call already", kMostScopes), "scopes");
  }
  SALLYPORT_TRY(Bounds bounds, bounds_.back().narrowed(*scope));
  scopes_.push_back(std::move(scope));
  bounds_.push_back(std::move(bounds));
  return {};
}

void ScopeStack::leave() {
  scopes_.pop_back();
  bounds_.pop_back();
}

std::optional<Autonomy> ScopeStack::cap(const Action& action) const {
  std::optional<Autonomy> lowest;
  const auto take = [&](std::optional<Autonomy> tier) {
    if (tier) lowest = lower(lowest.value_or(*tier), *tier);
  };
  for (const auto& scope : scopes_) {
    if (const auto declared = scope->tier_for(action)) take(declared->tier);
    take(scope->ceiling);
  }
  return lowest;
}

bool ScopeStack::needs_human_for(const Action& action) const {
  return std::ranges::any_of(scopes_,
                             [&](const auto& scope) { return scope->needs_human_for(action); });
}

}  // namespace sallyport::autonomy
