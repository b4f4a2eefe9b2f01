// Who is asked about calls, how many of them must say yes, and how long a yes is good for. The plan
// carries them; core knows no keys of people.
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
  // The same, where he may also have signed with a key that he has enrolled: `enrolled` holds all
  // enrolments, as facts keep them (CO-19).
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
  // Is this the name of an approver that an external program may answer as (RU-67)? Never of one
  // with a key, because only its holder can sign.
  virtual bool is_program(const std::string& reviewer) const;
  // The registered approver as whom the user of this client answers there (AP-31). Empty: none.
  virtual std::string of_client(const std::string& principal) const;
  // Names of the approvers who have that role too, for `role:ROLE` (RU-19).
  virtual std::vector<std::string> with_role(std::string_view role) const;
  // All that decides, for the hash of the plan.
  virtual json::value dump() const = 0;
};

// The door of an external approver is this and its id, which is the name that it answers as.
inline constexpr std::string_view kExternalDoor = "external:";

struct ApprovalRules {
  std::vector<std::string> reviewers{};  // empty: the registered approvers
  std::uint64_t quorum = 1;
  std::chrono::seconds use_within{600};
  std::set<std::string> dual_control{};  // tools and side-effect classes
  std::uint64_t most_open = 64;          // questions of one agent that wait at the same time
  std::chrono::seconds hold{50};         // how long a front keeps its client waiting (AP-34)
  // Null: who answers is vouched for by the program he answers through.
  std::shared_ptr<const ReviewerBook> people{};
  // The program that holds the plan answers for its own people: only what comes through the command
  // line and the HTTP API of other processes is checked against `people`.
  bool program_vouches = false;

  // Did a registered person give this answer, as far as the door and the signature tell (AP-10)?
  // `enrolled`: the keys that people have enrolled, as facts keep them.
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
