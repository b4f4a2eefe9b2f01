#include "grants/delegation.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "grants/constraint.h"

namespace sallyport::grants {

namespace {

std::optional<std::string> wider_limits(const Terms& child, const Terms& parent) {
  if (parent.max_invocations &&
      (!child.max_invocations || *child.max_invocations > *parent.max_invocations)) {
    return fmt::format("`max_invocations` must be there and at most {}", *parent.max_invocations);
  }
  if (!parent.rate) return std::nullopt;
  if (child.rate && child.rate->per_seconds == parent.rate->per_seconds &&
      child.rate->max <= parent.rate->max) {
    return std::nullopt;
  }
  return fmt::format("`rate` must be at most {} per {} seconds, over the same seconds",
                     parent.rate->max, parent.rate->per_seconds);
}

std::optional<std::string> broken_step(const Token& parent, const Token& child) {
  if (!parent.subject_key || child.issuer != *parent.subject_key) {
    return "its issuer is not the key of the parent's subject";
  }
  if (child.parent != parent.digest) return "its parent is another token";
  if (child.issued_at < parent.issued_at || child.expires_at > parent.expires_at) {
    return "it is valid at times when its parent is not";
  }
  for (std::size_t i = 0; i < child.grants.size(); ++i) {
    if (const auto why = wider(child.grants[i], parent.grants)) {
      return fmt::format("grant {}: {}", i, *why);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> wider(const Terms& child, std::span<const Terms> parents) {
  if (!child.from) return "`from` must name the parent's grant that it narrows";
  if (*child.from >= parents.size()) {
    return fmt::format("`from` is {}, but the parent has {} grants", *child.from, parents.size());
  }
  const Terms& parent = parents[*child.from];
  if (!parent.operations.delegate) {
    return fmt::format("grant {} of the parent may not be delegated: it lacks `delegate`",
                       *child.from);
  }
  if (parent.server != "*" && child.server != parent.server) {
    return fmt::format("`server` must be `{}`", parent.server);
  }
  if (parent.tool != "*" && child.tool != parent.tool) {
    return fmt::format("`tool` must be `{}`", parent.tool);
  }
  if (!child.operations.within(parent.operations)) {
    return "`operations` has one that the parent's lacks";
  }
  for (const Constraint& constraint : parent.constraints) {
    const bool kept = std::ranges::any_of(
        child.constraints, [&](const Constraint& own) { return implies(own, constraint); });
    if (!kept) {
      return fmt::format("no constraint is as narrow as the parent's `{}` of {:.200}",
                         constraint.type, canonical_json(constraint.value));
    }
  }
  return wider_limits(child, parent);
}

std::optional<std::string> broken_link(const TokenChain& chain) {
  if (chain.links.front().parent) return "step 0: its parent is missing";
  for (std::size_t i = 1; i < chain.links.size(); ++i) {
    if (const auto why = broken_step(chain.links[i - 1], chain.links[i])) {
      return fmt::format("step {}: {}", i, *why);
    }
  }
  return std::nullopt;
}

}  // namespace sallyport::grants
