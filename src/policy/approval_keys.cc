#include "policy/approval_keys.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "autonomy/policy_reader.h"
#include "autonomy/scope_stack.h"
#include "base/try.h"
#include "config/yaml_json.h"
#include "trust/approver_book.h"
#include "trust/reviewers.h"

namespace sallyport::policy {

namespace {

constexpr std::size_t kMostReviewers = 1000;
constexpr std::size_t kMostNames = 1000;
constexpr std::uint64_t kLongestTime = 604'800;
constexpr std::uint64_t kLongestHold = 3'600;
constexpr std::uint64_t kMostPending = 1000;

core::ApprovalRules& rules_of(Policy& policy) {
  if (!policy.approvals) policy.approvals.emplace();
  return *policy.approvals;
}

// An empty list would look like a list of people without having any.
json::object filled_list_schema(json::object items, std::size_t most) {
  json::object schema = config::list_schema(std::move(items), most);
  schema["type"] = "array";
  return schema;
}

json::object reviewer_schema() {
  const json::object roles = filled_list_schema(
      config::choice_schema({"approver", "auditor", "controller", "viewer"}), kMostNames);
  return {{"type", "object"},
          {"description", "a reviewer, with roles and what identifies them"},
          {"properties", json::object{{"name", config::text_schema(512)},
                                      {"key", config::text_schema(100)},
                                      {"token", config::text_schema(71)},
                                      {"client", config::text_schema(512)},
                                      {"roles", roles}}},
          {"required", json::array{"name", "roles"}},
          {"additionalProperties", false}};
}

Result<void> read_reviewers(const config::Place& place, Policy& out) {
  SALLYPORT_TRY(const json::value list, to_json(place.node, place.file));
  Result<trust::Reviewers> people = trust::reviewers_from_json(list);
  if (!people) return place.refuse(people.error().message);
  if (people->people.size() > kMostReviewers) return place.refuse("there are over 1000 reviewers");
  core::ApprovalRules& rules = rules_of(out);
  for (const trust::Reviewer& person : people->people) {
    if (!person.has_role("approver")) continue;
    rules.reviewers.push_back(person.name);
  }
  rules.people = std::make_shared<const trust::ApproverBook>(std::move(*people));
  return {};
}

// Names are compared literally: a pattern would match nothing, so no one would have to approve
// (AT-32).
config::ReadValue read_action(std::set<std::string>& out) {
  return [&out](const config::Place& place) -> Result<void> {
    std::string name;
    SALLYPORT_CHECK_OK(config::read_text(name, 512)(place));
    if (!autonomy::is_action_name(name)) {
      return place.refuse(fmt::format(
          "`{}` is a pattern, name a tool or a class of effects such as `fs.write`", name));
    }
    out.insert(std::move(name));
    return {};
  };
}

}  // namespace

config::Mapping approval_keys(Policy& out) {
  config::Mapping keys("who approves calls, and on what terms");
  keys.optional("reviewers",
                "registered people with their roles, each identified by a key, the SHA-256 of a "
                "token, or a client",
                filled_list_schema(reviewer_schema(), kMostReviewers),
                [&out](const config::Place& place) { return read_reviewers(place, out); })
      .optional(
          "quorum", "how many reviewers must approve", config::number_schema(1, kMostReviewers),
          config::read_number(1, kMostReviewers,
                              [&out](std::uint64_t quorum) { rules_of(out).quorum = quorum; }))
      .optional("deadline_s", "seconds to wait for an answer; without one the call is refused",
                config::number_schema(1, kLongestTime),
                config::read_number(1, kLongestTime,
                                    [&out](std::uint64_t seconds) {
                                      out.approval_time = std::chrono::seconds(seconds);
                                    }))
      .optional("use_within_s", "seconds for which an approval is valid",
                config::number_schema(1, kLongestTime),
                config::read_number(1, kLongestTime,
                                    [&out](std::uint64_t seconds) {
                                      out.use_within = std::chrono::seconds(seconds);
                                    }))
      .optional("hold_s", "seconds that a client waits before it receives `pending_approval`",
                config::number_schema(0, kLongestHold),
                config::read_number(0, kLongestHold,
                                    [&out](std::uint64_t seconds) {
                                      rules_of(out).hold = std::chrono::seconds(seconds);
                                    }))
      .optional("pending_per_agent",
                "how many approval requests of one agent may wait at the same time; a call that "
                "needs one more is refused",
                config::number_schema(1, kMostPending),
                config::read_number(1, kMostPending,
                                    [&out](std::uint64_t most) { rules_of(out).most_open = most; }))
      .optional("dual_control", "tools and side-effect classes that need two people",
                config::list_schema(config::text_schema(512), kMostNames),
                [&out](const config::Place& place) {
                  return config::read_list(kMostNames,
                                           read_action(rules_of(out).dual_control))(place);
                });
  return keys;
}

config::ReadValue read_approvals(Policy& out) {
  return [&out](const config::Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(approval_keys(out).read(place));
    const core::ApprovalRules& rules = rules_of(out);
    const std::size_t people = rules.reviewers.size();
    if (!rules.people) return {};
    if (people == 0) return place.refuse("no reviewer has the role `approver`");
    if (rules.quorum > people) {
      return place.refuse(
          fmt::format("`quorum` is {}, but there are {} approvers", rules.quorum, people));
    }
    if (!rules.dual_control.empty() && people < 2) {
      return place.refuse("`dual_control` needs two approvers, and there is one");
    }
    return {};
  };
}

namespace {

std::optional<std::uint64_t> count_of(std::optional<std::chrono::seconds> time) {
  if (!time) return std::nullopt;
  return static_cast<std::uint64_t>(time->count());
}

// A scope that leaves too few reviewers is refused when the policy is read (AT-15).
Result<void> check_scopes(const Policy& policy, const config::YamlNode& root,
                          const std::string& file) {
  autonomy::Bounds outer;
  if (policy.approvals) {
    outer.reviewers = policy.approvals->reviewers;
    outer.quorum = policy.approvals->quorum;
  }
  for (std::size_t i = 0; i < policy.scopes.size(); ++i) {
    const Result<autonomy::Bounds> narrow = outer.narrowed(policy.scopes[i].policy);
    const bool two = policy.approvals && !policy.approvals->dual_control.empty();
    if (narrow && two && narrow->reviewers.size() == 1) {
      return config::Place{config::node_at(root, fmt::format("/scopes/{}/autonomy/reviewers", i)),
                           file}
          .refuse("`dual_control` of `approvals` needs two approvers, and this scope leaves one");
    }
    if (narrow) continue;
    const std::string at = fmt::format("/scopes/{}/autonomy/{}", i, narrow.error().where);
    return config::Place{config::node_at(root, at), file}.refuse(narrow.error().message);
  }
  return {};
}

}  // namespace

Result<void> narrow_approvals(Policy& policy, const config::YamlNode& root,
                              const std::string& file) {
  if (policy.autonomy) {
    const core::ApprovalRules& rules = rules_of(policy);
    const autonomy::Bounds outer{.reviewers = rules.reviewers,
                                 .quorum = rules.quorum,
                                 .deadline_s = count_of(policy.approval_time),
                                 .use_within_s = count_of(policy.use_within)};
    const Result<autonomy::Bounds> narrow = outer.narrowed(*policy.autonomy);
    const config::Place place{config::node_at(root, "/autonomy"), file};
    if (!narrow) {
      return config::Place{config::node_at(place.node, "/" + narrow.error().where), file}.refuse(
          narrow.error().message);
    }
    if (!rules.dual_control.empty() && narrow->reviewers.size() == 1) {
      return place.refuse("`dual_control` needs two approvers, and there is one");
    }
    rules_of(policy).reviewers = narrow->reviewers;
    rules_of(policy).quorum = narrow->quorum;
    if (narrow->deadline_s) policy.approval_time = std::chrono::seconds(*narrow->deadline_s);
    if (narrow->use_within_s) policy.use_within = std::chrono::seconds(*narrow->use_within_s);
  }
  if (policy.use_within) rules_of(policy).use_within = *policy.use_within;
  return check_scopes(policy, root, file);
}

}  // namespace sallyport::policy
