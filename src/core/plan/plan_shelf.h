// Holds the plan in force and records each change of it. Nothing runs before the first plan is
// loaded. If a plan is rejected, the last good one stays in force (LE-69).
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/async.h"
#include "core/plan/plan.h"
#include "core/plan/policy_text.h"
#include "core/record/record_log.h"

namespace sallyport::core {

class PlanShelf final : public PlanSource {
 public:
  // `hash_before` is the hash of the plan that was in force when the last process stopped; empty:
  // unknown.
  explicit PlanShelf(RecordLog& records, std::string hash_before = {});

  struct Origin {
    std::string source;                        // a file, a preset, `program`
    std::string who;                           // the authenticated person or process
    std::uint64_t generation = 0;              // of its guardrails; 0: it has none
    std::shared_ptr<const PolicyText> text{};  // null: a program made the plan
  };

  // Puts a plan in force once its control entry is durable. The entry holds the text of the policy
  // if no entry of the ledger has it yet. Do not call it from two tasks at once (WB-7).
  Task<void> load(std::shared_ptr<const Plan> plan, Origin origin);
  Task<void> reject(Origin origin, Error error);

  std::shared_ptr<const Plan> current() const override { return plan_.load(); }

 private:
  Task<void> write(const Plan& plan, const Origin& origin, bool with_text);

  RecordLog& records_;
  std::string hash_before_;
  std::atomic<std::shared_ptr<const Plan>> plan_;
};

// Key: source of a policy that names reviewers. Value: the digest of its list. Commands without a
// policy read from it which people a gateway on this ledger accepts.
inline constexpr std::string_view kPolicyPeople = "policy_people";
std::string digest_of_people(const ReviewerBook& people);

// The plan that denies every call. It is in force while there is no policy.
std::shared_ptr<const Plan> closed_plan();

}  // namespace sallyport::core
