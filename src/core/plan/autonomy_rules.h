// Decides how much an agent may do by itself, and writes the trust records. The plan carries one;
// core knows no policy and no trust graph.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/record/read_field.h"
#include "core/record/record_reader.h"
#include "sallyport/call.h"
#include "sallyport/classification.h"

namespace sallyport::core {

// One step towards the effective tier: a tier that was given, or an upper limit.
struct TierStep {
  std::string source{};  // as in records
  Autonomy tier = Autonomy::ActWithApproval;
  std::string about{};  // what it was counted from

  bool operator==(const TierStep&) const = default;
};

class ReviewerBook;

// The verdict of a policy's rules about a call with a tier (RU-7..RU-9).
enum class RuleAdvice {
  Nothing,
  Asks,    // the tier is at most `act_with_approval`
  Allows,  // at that tier the call runs without approval
};

struct AutonomyQuestion {
  const Call& call;
  const Classification& classification;
  std::optional<Autonomy> grant_ceiling{};
  std::vector<TierStep>* steps = nullptr;  // collects every step that was weighed; null: not wanted
  // The people of the plan. A promotion or a demotion counts only with the signature of one of
  // them; null: none counts.
  const ReviewerBook* people = nullptr;
  RuleAdvice rules = RuleAdvice::Nothing;
};

// Requirements of an approval beyond those of the plan. They only narrow (AT-14, AT-15).
struct ApprovalBounds {
  std::vector<std::string> reviewers{};  // empty: no narrower list
  std::uint64_t quorum = 1;
  std::optional<std::chrono::seconds> deadline{};
  std::optional<std::chrono::seconds> use_within{};
};

struct AutonomyAnswer {
  Autonomy tier = Autonomy::ActWithApproval;
  std::string source = "default";
  bool needs_human = false;  // a yes counts only from a person at a door of their own (AT-17)
  // Counts a dispatch that needed no person. It is committed with the intent, and refuses the
  // intent with `kBudgetUsedUp` if other calls used up the budget first. Null: there is no budget.
  std::shared_ptr<const FactChange> spending{};
  std::vector<Draft> events{};             // to be written with the next commit of the call
  std::optional<ApprovalBounds> bounds{};  // of scopes; none: there is no scope
  std::string refusal{};  // scopes that exclude each other: the call does not run; empty: it may
};
inline constexpr std::string_view kBudgetUsedUp = "autonomy_budget";

// An approval as trust records have it (AP-16).
struct SignedAnswer {
  std::string reviewer{};
  std::string signed_at{};  // RFC 3339
  std::string signature{};  // `ed25519:` and base64, or `ledger:` and a sequence number
};

// The source of a tier that no rules have weighed.
inline constexpr std::string_view kTierOfPlan = "plan";

// How a call ended under its tier, in the words of the trust graph (AT-31).
enum class Enforcement {
  Auto,             // it ran by itself
  ApprovalGranted,  // it ran because people said yes
  ShadowNoop,       // this one and the following: it did not run
  SuggestApprovalRequest,
  ApprovalDenied,
  ApprovalTimeout,
  ApprovalCancelled,
  ApprovalInvalidated,
};
inline constexpr Word<Enforcement> kEnforcements[] = {
    {"auto", Enforcement::Auto},
    {"approval_granted", Enforcement::ApprovalGranted},
    {"shadow_noop", Enforcement::ShadowNoop},
    {"suggest_approval_request", Enforcement::SuggestApprovalRequest},
    {"approval_denied", Enforcement::ApprovalDenied},
    {"approval_timeout", Enforcement::ApprovalTimeout},
    {"approval_cancelled", Enforcement::ApprovalCancelled},
    {"approval_invalidated", Enforcement::ApprovalInvalidated},
};

// The end of a call that reached the tiers (AT-28).
struct Remembered {
  const Call& call;
  const Classification& classification;
  Autonomy tier = Autonomy::ActWithApproval;
  Enforcement enforcement = Enforcement::Auto;
  bool succeeded = false;     // of a call that ran
  std::string approval_id{};  // empty: no person was asked
  std::string approver{};
  std::string approved_at{};            // RFC 3339
  std::uint64_t answer_sequence = 0;    // of the entry that holds the answer
  std::vector<SignedAnswer> answers{};  // each answer, if known
};

// From any thread.
class AutonomyRules {
 public:
  virtual ~AutonomyRules() = default;

  // Unreadable facts lower the tier; there is no error.
  virtual AutonomyAnswer weigh(const AutonomyQuestion& question, RecordReader& records,
                               WallTime now) const = 0;
  // False: every call runs by itself, unless a person has lowered its agent since.
  virtual bool may_ask() const = 0;
  // The trust record, written after the record of the call.
  virtual Draft remember(const Remembered& ended, WallTime now) const = 0;
  // Everything that decides, for the hash of the plan.
  virtual json::object dump() const = 0;
};

}  // namespace sallyport::core
