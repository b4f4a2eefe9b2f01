// The plan in force, and the record of how it came to be that one (LE-69). Before the first plan is
// loaded nothing runs; a rejected one leaves the last good one in force.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/async.h"
#include "core/plan/plan.h"
#include "core/plan/policy_text.h"
#include "core/record/recorder.h"

namespace sallyport::core {

class PlanShelf final : public PlanSource {
 public:
  // `hash_before` is that of the plan in force when the last process stopped; empty: none is known.
  explicit PlanShelf(Recorder& recorder, std::string hash_before = {});

  struct Origin {
    std::string source;                        // a file, a preset, `program`
    std::string who;                           // the authenticated person or process
    std::uint64_t generation = 0;              // of its guardrails; 0: it has none
    std::shared_ptr<const PolicyText> text{};  // null: a program made the plan
  };

  // In force once its control entry is durable, which holds the text of the policy where no entry
  // of the ledger has it yet (WB-7). Not from two tasks at once.
  Task<void> load(std::shared_ptr<const Plan> plan, Origin origin);
  Task<void> reject(Origin origin, Error error);

  std::shared_ptr<const Plan> current() const override { return plan_.load(); }

 private:
  Task<void> write(const Plan& plan, const Origin& origin, bool with_text);

  Recorder& recorder_;
  std::string hash_before_;
  std::atomic<std::shared_ptr<const Plan>> plan_;
};

// By source of a policy that names reviewers: the digest of its list. Commands that have no policy
// learn from it whom a gate on this ledger believes.
inline constexpr std::string_view kPolicyPeople = "policy_people";
std::string digest_of_people(const ReviewerBook& people);

// Denies every call: what is in force while no policy is.
std::shared_ptr<const Plan> closed_plan();

}  // namespace sallyport::core
