// Says who is asked about calls, how many must approve, and how long an approval is valid. The plan
// carries these rules; core knows no keys of people.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/classification.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::core {

// The people that a policy registers. From any thread.
class ReviewerBook {
 public:
  virtual ~ReviewerBook() = default;
  // `Unauthenticated`: no person of that name may approve, or their key did not sign `statement`.
  virtual Result<void> check(const std::string& reviewer, std::string_view statement,
                             std::string_view signature) const = 0;
  // The same, and the person may also have signed with an enrolled key: `enrolled` holds all
  // enrolments, as facts store them (CO-19).
  virtual Result<void> check_answer(const std::string& reviewer, std::string_view statement,
                                    std::string_view signature,
                                    const std::vector<std::string>& enrolled) const;
  // `Unauthenticated`: no registered controller of that name signed `statement` (TR-15). Asked for
  // each call of an agent that was promoted or demoted, so it must be cheap the second time.
  virtual Result<void> check_control(const std::string& reviewer, std::string_view statement,
                                     std::string_view signature) const;
  // How the registered person of that name is authenticated: `key:` and digits of the key's digest,
  // `token:` and the same, or `client:` and the client. It is equal for one person under two names.
  // Empty: no person of that name is registered.
  virtual std::string credential(const std::string& reviewer) const;
  // True if an external program may answer under this name of an approver (RU-67). Never for an
  // approver with a key, because only the holder of the key can sign.
  virtual bool is_program(const std::string& reviewer) const;
  // The registered approver that the user of this client is (AP-31). Empty: none.
  virtual std::string of_client(const std::string& principal) const;
  // Names of the approvers who have that role too, for `role:ROLE` (RU-19).
  virtual std::vector<std::string> with_role(std::string_view role) const;
  // Everything that decides, for the hash of the plan.
  virtual json::value dump() const = 0;
};

struct ApprovalRules {
  std::vector<std::string> reviewers{};  // empty: the registered approvers
  std::uint64_t quorum = 1;
  std::chrono::seconds use_within{600};
  std::set<std::string> dual_control{};  // tools and side-effect classes
  std::uint64_t most_open = 64;          // questions of one agent that wait at the same time
  std::chrono::seconds hold{50};         // how long a front keeps its client waiting (AP-34)
  // Null: the program vouches for the people who answer through it.
  std::shared_ptr<const ReviewerBook> people{};
  // The program that holds the plan answers for its own people: only what comes through the command
  // line and the HTTP API of other processes is checked against `people`.
  bool program_vouches = false;

  // Checks by door and signature that a registered person gave this answer (AP-10). `enrolled`: the
  // keys that people have enrolled, as facts store them.
  Result<void> check(std::string_view door, const std::string& reviewer, std::string_view statement,
                     std::string_view signature,
                     const std::vector<std::string>& enrolled = {}) const;

  bool needs_two(std::string_view tool, const Classification& classification) const {
    return dual_control.contains(std::string(tool)) ||
           dual_control.contains(classification.effect_class);
  }
  json::object dump() const;
};

}  // namespace sallyport::core
