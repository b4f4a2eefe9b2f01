#include "rules/rule.h"

#include <algorithm>
#include <array>

#include "base/wildcard.h"

namespace sallyport::rules {

std::string_view to_string(Then then) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"allow", "ask", "deny", "log", "withhold", "redact", "escalate"});
  static_assert(kNames.size() == static_cast<std::size_t>(Then::Escalate) + 1);
  return kNames[static_cast<std::size_t>(then)];
}

void ApprovalTerms::narrow(const ApprovalTerms& other) {
  const auto shorter = [](std::optional<std::chrono::seconds>& own,
                          const std::optional<std::chrono::seconds>& wanted) {
    if (wanted) own = own ? std::min(*own, *wanted) : *wanted;
  };
  if (other.quorum) quorum = std::max(quorum.value_or(1), *other.quorum);
  dual_control = dual_control || other.dual_control;
  no_reviewer_left = no_reviewer_left || other.no_reviewer_left;
  reason_required = reason_required || other.reason_required;
  shorter(deadline, other.deadline);
  shorter(use_within, other.use_within);
  if (other.reviewers.empty()) return;
  if (reviewers.empty()) {
    reviewers = other.reviewers;
    return;
  }
  std::erase_if(reviewers, [&](const std::string& name) {
    return std::ranges::find(other.reviewers, name) == other.reviewers.end();
  });
  no_reviewer_left = no_reviewer_left || reviewers.empty();
}

namespace {

bool every(const Rule& rule, bool (*named)(const Conditions&)) {
  return !rule.when.empty() && std::ranges::all_of(rule.when, named);
}

// True if two lists of names have no name in common, so that the rules cannot both match.
bool apart(const std::vector<std::string>& a, const std::vector<std::string>& b,
           bool (*meets)(const std::string&, const std::string&)) {
  if (a.empty() || b.empty()) return false;
  return std::ranges::none_of(a, [&](const std::string& name) {
    return std::ranges::any_of(b, [&](const std::string& other) { return meets(name, other); });
  });
}

bool equal(const std::string& a, const std::string& b) {
  return a == b;
}

bool agents_meet(const std::string& a, const std::string& b) {
  return a == b || a.starts_with(b + "/") || b.starts_with(a + "/");
}

// True if two patterns could match the same tool, or in doubt.
bool tools_meet(const std::string& a, const std::string& b) {
  const bool a_open = a.find('*') != std::string::npos;
  const bool b_open = b.find('*') != std::string::npos;
  if (a_open && b_open) {
    const std::string_view a_start = std::string_view(a).substr(0, a.find('*'));
    const std::string_view b_start = std::string_view(b).substr(0, b.find('*'));
    return a_start.starts_with(b_start) || b_start.starts_with(a_start);
  }
  return a_open ? fits_wildcard(a, b) : fits_wildcard(b, a);
}

bool can_meet(const Conditions& a, const Conditions& b) {
  if (a.interactive && b.interactive && a.interactive != b.interactive) return false;
  return !apart(a.agent, b.agent, agents_meet) && !apart(a.session, b.session, equal) &&
         !apart(a.front, b.front, equal) && !apart(a.server, b.server, equal) &&
         !apart(a.tool, b.tool, tools_meet);
}

}  // namespace

unsigned rank_of(const Rule& rule) {
  const bool agent = every(rule, [](const Conditions& each) { return !each.agent.empty(); });
  const bool server = every(rule, [](const Conditions& each) { return !each.server.empty(); });
  const bool tool = every(rule, [](const Conditions& each) { return !each.tool.empty(); });
  return (agent ? 4U : 0U) + (server ? 2U : 0U) + (tool ? 1U : 0U);
}

bool can_meet(const Rule& a, const Rule& b) {
  static const std::vector<Conditions> kAny(1);
  const std::vector<Conditions>& first = a.when.empty() ? kAny : a.when;
  const std::vector<Conditions>& second = b.when.empty() ? kAny : b.when;
  return std::ranges::any_of(first, [&](const Conditions& left) {
    return std::ranges::any_of(second,
                               [&](const Conditions& right) { return can_meet(left, right); });
  });
}

}  // namespace sallyport::rules
