#include "core/plan/approval_rules.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "core/approval/doors.h"

namespace sallyport::core {

Result<void> ReviewerBook::check_answer(const std::string& reviewer, std::string_view statement,
                                        std::string_view signature,
                                        const std::vector<std::string>&) const {
  return check(reviewer, statement, signature);
}

Result<void> ReviewerBook::check_control(const std::string& reviewer, std::string_view,
                                         std::string_view) const {
  return fail(ErrorCode::Unauthenticated,
              fmt::format("`{:.80}` is not registered as controller", reviewer), {},
              "unauthorized_control");
}

std::string ReviewerBook::of_client(const std::string&) const {
  return {};
}

std::string ReviewerBook::credential(const std::string&) const {
  return {};
}

std::vector<std::string> ReviewerBook::with_role(std::string_view) const {
  return {};
}

bool ReviewerBook::is_program(const std::string&) const {
  return false;
}

Result<void> ApprovalRules::check(std::string_view door, const std::string& reviewer,
                                  std::string_view statement, std::string_view signature,
                                  const std::vector<std::string>& enrolled) const {
  if (door.starts_with(kExternalDoor)) {
    const bool own = door.substr(kExternalDoor.size()) == reviewer;
    if (own && people && people->is_program(reviewer)) return {};
    return fail(
        ErrorCode::Unauthenticated,
        fmt::format("`{:.80}` is not registered as the approver of this program", reviewer));
  }
  if (!people || (program_vouches && !is_of_a_person_elsewhere(door))) return {};
  return people->check_answer(reviewer, statement, signature, enrolled);
}

json::object ApprovalRules::dump() const {
  json::object rules{{"reviewers", json::value_from(reviewers)},
                     {"quorum", quorum},
                     {"use_within_s", use_within.count()},
                     {"dual_control", json::value_from(dual_control)},
                     {"people", people ? people->dump() : json::value()}};
  // Policies that do not name them keep the hash they had.
  if (hold != ApprovalRules{}.hold) rules["hold_s"] = hold.count();
  if (most_open != ApprovalRules{}.most_open) rules["pending_per_agent"] = most_open;
  return rules;
}

}  // namespace sallyport::core
