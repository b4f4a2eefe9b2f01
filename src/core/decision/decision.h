// A decision about one call: the plan, the call with its final input, and what the guards found.
// `decide` makes it. The `Trail` of a call is one; a rehearsal has one alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/keyed_digest.h"
#include "core/approval/approvals.h"
#include "core/plan/fail_open.h"
#include "core/plan/grant_use.h"
#include "core/plan/pipeline.h"
#include "core/plan/plan.h"
#include "core/record/draft.h"
#include "sallyport/audit_record.h"
#include "sallyport/event.h"
#include "sallyport/result.h"

namespace sallyport::core {

// Why a call does not run.
struct Refusal {
  enum class By {
    Plan,         // a grant, a guard, an authorizer
    Hook,         // a pre-hook, or rewrites that do not settle
    Autonomy,     // the tier is `shadow`
    Person,       // a person refused, or the answer does not count
    Expiry,       // no person answered in time, or the yes was not used in time
    Preparation,  // the preparation is gone: the call is invalidated, not blocked
    Tool,         // a rule of the tool itself, found while preparing
    Idempotency,
    Listener,  // an event hook refused the announcement
    Cancel,
  };
  std::string reason;
  By by = By::Plan;
};

class Decision;

// An approval, and exactly what it covers.
struct Consent {
  std::string approval_id;
  std::string call_digest;
  Approvals::State state{};    // as last read
  std::string by{};            // the person
  std::string at{};            // the time of the answer
  std::uint64_t sequence = 0;  // the entry of the answer
  std::string binding{};
  std::vector<Vote> votes{};

  // False: the tool, its input, the policy or another part of the digest changed since the question.
  bool covers(const Decision& decision) const;
};

// Used on the executor of the call that it is about.
class Decision {
 public:
  // `call` has its ids. The constructor classifies it under the plan.
  Decision(Call&& call, std::shared_ptr<const Plan> plan, const KeyedDigest& digest,
           FailOpenLog& fail_open);

  const Call& call() const { return call_; }  // without its capability tokens
  // The call with its grants, only for the guard that checks grants.
  Call call_with_grants() const;
  // A copy of the current call, for code that may outlive the decision.
  std::shared_ptr<const Call> shared_call() const;
  const Plan& plan() const { return *plan_; }
  std::shared_ptr<const Plan> shared_plan() const { return plan_; }
  const Classification& classification() const { return classification_; }
  void raise_caution();  // treats the tool as unclassified
  // Digest of the tool's definition, which an approval binds; empty: unknown.
  const std::string& tool_definition() const { return tool_definition_; }
  bool cautious() const { return cautious_; }
  void tool_definition(std::string digest);
  const json::value& requested_input() const { return requested_ ? *requested_ : call_.input; }
  // The requested and the current input as records have them: JSON of `append_exact_json`.
  const std::string& requested_text() const { return requested_text_; }
  const std::string& input_text() const;
  const std::optional<Prepared>& prepared() const { return prepared_; }
  RecoveryClass recovery_class() const;
  // The text of an input that JSON numbers cannot hold; otherwise empty.
  std::string exact_text() const { return call_.raw_input.value_or(""); }

  bool open() const { return !refusal_; }
  const std::optional<Refusal>& refusal() const { return refusal_; }
  // True if only the tier `shadow` keeps the call from running.
  bool is_shadow() const;
  void refuse(Refusal refusal);  // the first one stays
  // The matching grant has no budget left: its guard turns into a refusal.
  void refuse_spending(const Error& error);
  void reword(std::string reason) { refusal_->reason = std::move(reason); }

  void replace_input(json::value input, std::optional<std::string> raw = {});
  void prepared(Prepared prepared, bool outlives_process);
  // Decides everything again: the plan may have changed while a person was asked, or a fact while
  // the decision was made.
  void decide_again(std::shared_ptr<const Plan> plan);

  std::string digest(std::string_view text) const { return digest_(text); }
  const std::string& request_digest() const { return request_digest_; }
  // Over everything that an approval covers: the tool and its definition, the input, the principal,
  // the policy, and the folder if rules read it. An approval of another digest does not count.
  const std::string& call_digest() const;

  // The verdicts of the guards so far, and their form in records.
  const std::vector<GuardRun>& guard_runs() const { return guard_runs_; }
  const std::string& guards_text() const;
  std::vector<GuardRun>& change_guard_runs();

  // Adds an entry for each finding to the next commit.
  void note(std::vector<Finding> findings);

  // Drops the evidence of guards from the record, because it does not fit into one entry.
  void forget_evidence();
  // Drops the content too. The record then says only that the call was made, and how it ended.
  void forget_content();

  std::vector<Escalation> escalations;  // from guards before the call
  std::optional<std::string> question;  // a guard wants a person to be asked
  bool needs_person = false;  // the tier, a guard or a rule requires a yes that is missing
  std::optional<Consent> consent;
  std::shared_ptr<const GrantUse> grant;  // the grant that matches; null: the call needs none
  // Introduces the presented token, also if the call is denied. Null: no genuine token was presented.
  std::shared_ptr<const GrantUse> shown_grant;
  std::optional<RuleAnswer> rules;       // the last answer; no value: the plan has no rules
  std::optional<ApprovalBounds> scopes;  // what the scopes around the call require of an approval
  UpstreamFacts upstream{};              // facts about the upstream, for the rules
  std::vector<std::string> workspace{};  // the workspace of the session, for the rules
  // Digest of the other inputs of the rules; empty: there are no rules.
  std::string scene{};
  // What external guards receive in addition to the call.
  std::shared_ptr<const CallSurroundings> surroundings() const;
  // Takes the answer of the rules. Its classification replaces that of the plan, if it has one.
  void judged(RuleAnswer answer);
  bool is_tiered() const;  // the tier decides whether it runs by itself
  bool needs_two() const;  // two people must approve it
  // Who may approve it, and how many must: the plan, narrowed by the rules that ask and by scopes.
  // Empty reviewers: every registered approver (RU-18).
  std::vector<std::string> reviewers() const;
  std::uint64_t quorum() const;
  // How long people are asked, and how long a yes is valid.
  std::chrono::seconds approval_time() const;
  std::chrono::seconds use_within() const;
  // Why no approval is possible: the reviewers of plan and rules exclude each other, or are too
  // few.
  std::optional<std::string> no_reviewers() const;
  std::string approval_id;  // the last question
  Autonomy autonomy;
  std::string autonomy_source{kTierOfPlan};
  bool needs_human = false;  // and no program near the agent may answer
  bool weighed = false;      // grants and guards allowed it, and the tiers were resolved
  std::string decided_at;    // RFC 3339; empty: nothing was decided yet
  std::uint64_t as_of = 0;   // size of the ledger when the facts were read
  std::string replay_of;     // the event whose dispatch is replayed; empty: none
  std::shared_ptr<const FactChange> spending;  // of the autonomy budget
  FailOpen fail_open;

  // The entries of the call for its next commit, in order.
  std::vector<Draft> rows;

  const SharedSubject& subject() const { return subject_; }

 private:
  void input_changed();

  std::vector<std::string> grants_;  // declared before `call_`, because they are moved out of it
  Call call_;
  std::shared_ptr<const Plan> plan_;
  const KeyedDigest& digest_;
  Classification classification_;
  std::string tool_definition_;
  std::optional<json::value> requested_;  // the requested input; no value: that of the call
  std::optional<std::string> requested_raw_;
  std::string requested_text_;
  std::string request_digest_;
  std::optional<Prepared> prepared_;
  std::vector<GuardRun> guard_runs_;
  bool outlives_process_ = false;
  std::optional<Refusal> refusal_;
  SharedSubject subject_;
  bool cautious_ = false;  // the tool's own definition gives reason for caution
  // Computed on demand; empty: the input has changed since.
  mutable std::string input_text_;
  mutable std::string call_digest_;
  mutable std::shared_ptr<const Call> shared_call_;
  mutable std::string guards_text_;  // empty: `guard_runs_` have changed since
};

}  // namespace sallyport::core
