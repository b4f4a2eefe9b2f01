#include "grants/delegation.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/json_members.h"
#include "grants/constraint.h"
#include "grants/host.h"
#include "grants/path.h"

namespace sallyport::grants {

namespace {

std::optional<std::set<std::string>> texts_in(const json::value& value) {
  if (!value.is_array()) return std::nullopt;
  std::set<std::string> texts;
  for (const json::value& each : value.get_array()) {
    if (!each.is_string()) return std::nullopt;
    texts.emplace(each.get_string());
  }
  return texts;
}

bool subset(const json::value& part, const json::value& whole) {
  const auto few = texts_in(part);
  const auto many = texts_in(whole);
  return few && many && std::ranges::includes(*many, *few);
}

std::optional<std::uint64_t> count_in(const json::value& value) {
  return number_in(json::object{{"n", value}}, "n");
}

bool not_larger(const json::value& child, const json::value& parent) {
  const auto small = count_in(child);
  const auto large = count_in(parent);
  return small && large && *small <= *large;
}

bool lower_tier(const json::value& child, const json::value& parent) {
  if (!child.is_string() || !parent.is_string()) return false;
  const auto low = autonomy_from(child.get_string());
  const auto high = autonomy_from(parent.get_string());
  return low && high && *low <= *high;
}

bool deeper_path(const json::value& child, const json::value& parent) {
  const std::optional<PathPrefix> deep = PathPrefix::parse(child);
  const std::optional<PathPrefix> high = PathPrefix::parse(parent);
  return deep && high && deep->within(*high);
}

bool under_glob(const Constraint& child, const json::value& parent) {
  if (!child.value.is_string() || !parent.is_string()) return false;
  const std::optional<Host> suffix = glob_suffix(parent.get_string());
  if (!suffix) return false;
  if (child.type == "domain_exact") {
    const std::optional<Host> host = read_host(child.value.get_string());
    return host && is_below(*host, *suffix);
  }
  if (child.type != "domain_glob") return false;
  const std::optional<Host> deeper = glob_suffix(child.value.get_string());
  return deeper && (*deeper == *suffix || is_below(*deeper, *suffix));
}

bool same_host(const json::value& child, const json::value& parent) {
  if (!child.is_string() || !parent.is_string()) return false;
  const std::optional<Host> one = read_host(child.get_string());
  return one && one == read_host(parent.get_string());
}

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

bool implies(const Constraint& child, const Constraint& parent) {
  if (child.type == parent.type && canonical_json(child.value) == canonical_json(parent.value)) {
    return true;
  }
  const std::string& type = parent.type;
  if (type == "domain_glob") return under_glob(child, parent.value);
  if (child.type != type) return false;
  if (type == "path_prefix") return deeper_path(child.value, parent.value);
  if (type == "domain_exact") return same_host(child.value, parent.value);
  if (type == "max_length" || type == "max_args_size" || type == "max_rows_returned") {
    return not_larger(child.value, parent.value);
  }
  if (type == "audience_allowlist" || type == "memory_store_allowlist" ||
      type == "side_effect_class" || type == "table_allowlist") {
    return subset(child.value, parent.value);
  }
  if (type == "memory_write_deny_patterns" || type == "column_denylist") {
    return subset(parent.value, child.value);
  }
  return type == "autonomy_ceiling" && lower_tier(child.value, parent.value);
}

std::optional<std::string> wider(const Terms& child, std::span<const Terms> parents) {
  if (!child.from) return "`from` must name the parent's grant that it narrows";
  if (*child.from >= parents.size()) {
    return fmt::format("`from` is {}, but the parent has {} grants", *child.from, parents.size());
  }
  const Terms& parent = parents[*child.from];
  if (!parent.operations.delegate) {
    return fmt::format("grant {} of the parent may not be handed on: it lacks `delegate`",
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
