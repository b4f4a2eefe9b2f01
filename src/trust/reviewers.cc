#include "trust/reviewers.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>

#include "base/encoding.h"
#include "base/lower_case.h"
#include "base/object_reader.h"

namespace sallyport::trust {

namespace {

Reviewer reviewer_in(ObjectReader& in, const json::value& item) {
  if (const json::object* const object = item.if_object()) {
    for (const json::key_value_pair& member : *object) {
      if (member.key() == "name" || member.key() == "key" || member.key() == "roles") continue;
      if (member.key() == "token" || member.key() == "client") continue;
      in.refuse(std::string_view(member.key()).substr(0, 60),
                "is unknown; use `name`, `key`, `token`, `client`, `roles`");
    }
  }
  for (const char* const name : {"key", "token", "client"}) {
    const json::object* const object = item.if_object();
    const json::value* const given = object ? object->if_contains(name) : nullptr;
    // A person with a key signs: a forgotten signature must not look like none.
    if (given != nullptr && given->is_null()) in.refuse(name, "has no value, leave it out");
  }
  Reviewer reviewer{.name = in.text("name")};
  if (in.ok() && (reviewer.name.empty() || reviewer.name.size() > 512)) {
    in.refuse("name", "must be 1 to 512 bytes");
  }
  if (const std::optional<std::string> key = in.optional_text("key")) {
    reviewer.key = key_from(*key);
    if (!reviewer.key) in.refuse("key", "must be `ed25519:` and the base64 of 32 bytes");
  }
  if (const std::optional<std::string> token = in.optional_text("token")) {
    reviewer.token = *token;
    const bool shaped = token->starts_with("sha256:") && token->size() == 7 + 64 &&
                        from_hex(token->substr(7)).has_value();
    if (!shaped) in.refuse("token", "must be `sha256:` and 64 hex digits, never the token itself");
  }
  reviewer.client = in.optional_text("client");
  if (reviewer.client && (reviewer.key || reviewer.token)) {
    in.refuse("client", "excludes `key` and `token`: a person is known in one way");
  } else if (reviewer.client && (reviewer.client->empty() || reviewer.client->size() > 512)) {
    in.refuse("client", "must be 1 to 512 bytes");
  } else if (reviewer.client && (reviewer.name == *reviewer.client ||
                                 reviewer.name.starts_with(*reviewer.client + "/"))) {
    in.refuse("client", "is the name itself: a reviewer cannot approve their own calls");
  }
  for (const json::value& role : in.array("roles")) {
    constexpr std::string_view kRoles[] = {"approver", "auditor", "controller", "viewer"};
    const bool known =
        role.is_string() &&
        std::ranges::find(kRoles, std::string_view(role.get_string())) != std::end(kRoles);
    if (!known) in.refuse("roles", "may hold `approver`, `auditor`, `controller` and `viewer`");
    if (known) reviewer.roles.emplace_back(role.get_string());
  }
  return reviewer;
}

// Two names with the same credential are one person, who would count twice (AP-14). Names that
// differ only by capital letters would look like one.
void refuse_twice(ObjectReader& in, const Reviewer& reviewer, std::set<std::string>& known) {
  const auto first = [&](const std::string& what) { return known.insert(what).second; };
  if (!first("name:" + lower_case(reviewer.name))) {
    in.refuse("name", "is registered twice; capital letters make no other name");
  }
  constexpr std::string_view kShared = "is registered for another reviewer too";
  if (reviewer.key && !first(key_text(*reviewer.key))) in.refuse("key", kShared);
  if (reviewer.token && !first(*reviewer.token)) in.refuse("token", kShared);
  if (reviewer.client && !first("client:" + *reviewer.client)) in.refuse("client", kShared);
}

}  // namespace

Result<Reviewers> reviewers_from_json(const json::value& value, std::string where) {
  if (!value.is_array()) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{}` must be a list", where), where);
  }
  Reviewers reviewers;
  std::set<std::string> known;
  for (const json::value& item : value.get_array()) {
    ObjectReader in(item, fmt::format("{}[{}]", where, reviewers.people.size()));
    Reviewer reviewer = reviewer_in(in, item);
    refuse_twice(in, reviewer, known);
    if (!in.ok()) return std::unexpected(in.error());
    reviewers.people.push_back(std::move(reviewer));
  }
  return reviewers;
}

}  // namespace sallyport::trust
