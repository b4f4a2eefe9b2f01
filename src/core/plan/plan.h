// A compiled policy: immutable, hashed, and the same for the whole life of a call. Shared as a
// snapshot; every method may be called from any thread.
//
//   auto plan = PlanBuilder()
//                   .tool("", "read_file", {Tier::Observe, "none"})
//                   .guard(std::make_shared<PathGuard>("/srv/data"))
//                   .build();
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/event/hook_registry.h"
#include "core/plan/approval_rules.h"
#include "core/plan/approver.h"
#include "core/plan/autonomy_rules.h"
#include "core/plan/call_rules.h"
#include "core/plan/guard.h"
#include "core/plan/model_rules.h"
#include "core/plan/stream_guard.h"
#include "core/plan/stream_limits.h"
#include "core/record/sink.h"
#include "sallyport/classification.h"

namespace sallyport::core {

// When the intent of a call becomes durable. This decides what a crash may leave without a record.
enum class IntentDurability {
  Strict,  // before every call
  Effect,  // before calls that have an effect; for others with their outcome
  // Together with the outcome, for all calls, and no call waits for the disk. A crash can leave an
  // effect without a record. A power loss can lose the records of the last 0.2 s.
  Relaxed,
};
std::string_view to_string(IntentDurability durability);

// External programs of a policy that are not guards. They receive events and records, or answer
// approval requests in the name of one reviewer.
struct PlanListeners {
  std::vector<std::shared_ptr<const EventHook>> hooks{};
  std::vector<std::shared_ptr<const Sink>> sinks{};
  std::shared_ptr<const Approver> approver{};
};

class Plan {
 public:
  const std::string& hash() const { return hash_; }

  // Returns the entry for server and tool, else the entry for the tool on any server. An unlisted
  // tool is `Confirm`.
  const Classification& classify(const Call& call) const;

  const std::vector<std::shared_ptr<const Guard>>& guards() const { return guards_; }
  const std::vector<std::shared_ptr<const ResultGuard>>& result_guards() const {
    return result_guards_;
  }
  bool fails_open(std::string_view guard) const { return fail_open_.contains(guard); }
  Autonomy autonomy() const { return autonomy_; }
  // If set, it decides instead of `autonomy`.
  const std::shared_ptr<const AutonomyRules>& autonomy_rules() const { return autonomy_rules_; }
  // Returns who decides about this call: `autonomy_rules`. If there are none and the call has
  // scopes or a context tier, the rules that the program gave for such calls. Null: only
  // `autonomy`.
  const AutonomyRules* rules_for(const Call& call) const;
  // Null: the policy has no rules, and calls are decided without them (RU-1).
  const std::shared_ptr<const CallRules>& rules() const { return rules_; }
  std::chrono::milliseconds time_limit() const { return time_limit_; }
  const StreamLimits& stream_limits() const { return stream_limits_; }
  IntentDurability durability() const { return durability_; }
  std::chrono::seconds approval_time() const { return approval_time_; }
  const ApprovalRules& approvals() const { return approvals_; }
  const PlanListeners& listeners() const { return listeners_; }
  // True if a guard asks an external program about calls or results.
  bool asks_outside() const { return asks_outside_; }
  bool redaction_notice() const { return redaction_notice_; }
  // Checks of texts to and from models. Null: the policy has none.
  const std::shared_ptr<const StreamGuard>& stream_guard() const { return stream_guard_; }
  const ModelRules& model_rules() const { return model_rules_; }
  // True if a message with a method outside its protocol may pass.
  bool passes_method(std::string_view method) const {
    return passed_methods_.contains(method) || passed_methods_.contains("*");
  }

  // A stable text of everything that the policy decides. The hash covers it.
  const std::string& dump() const { return dump_; }

 private:
  friend class PlanBuilder;
  std::string hash_;
  std::string dump_;
  std::map<std::pair<std::string, std::string>, Classification> tools_;  // server, tool
  std::vector<std::shared_ptr<const Guard>> guards_;
  std::vector<std::shared_ptr<const ResultGuard>> result_guards_;
  std::set<std::string, std::less<>> fail_open_;
  Autonomy autonomy_ = Autonomy::ActWithApproval;
  std::shared_ptr<const AutonomyRules> autonomy_rules_;
  std::shared_ptr<const AutonomyRules> scope_rules_;
  bool scope_rules_for_all_ = false;
  std::shared_ptr<const CallRules> rules_;
  std::chrono::milliseconds time_limit_{60'000};
  StreamLimits stream_limits_;
  IntentDurability durability_ = IntentDurability::Effect;
  std::chrono::seconds approval_time_ = std::chrono::hours(24);
  ApprovalRules approvals_;
  PlanListeners listeners_;
  bool asks_outside_ = false;
  bool redaction_notice_ = false;
  std::shared_ptr<const StreamGuard> stream_guard_;
  ModelRules model_rules_;
  std::set<std::string, std::less<>> passed_methods_;
  json::object also_;
};

class PlanBuilder {
 public:
  // An empty server means any server.
  PlanBuilder& tool(std::string server, std::string name, Classification classification);
  // True if there is an entry for this tool, on this server or on any.
  bool knows(const std::string& server, const std::string& name) const;
  PlanBuilder& guard(std::shared_ptr<const Guard> guard);
  // Adds a tool or guard of a front, independent of the policy. It is not part of the hash, so that
  // one policy has one hash behind every front. An entry of the policy takes precedence.
  PlanBuilder& extension_tool(std::string server, std::string name, Classification classification);
  PlanBuilder& extension_guard(std::shared_ptr<const Guard> guard);
  PlanBuilder& result_guard(std::shared_ptr<const ResultGuard> guard);
  PlanBuilder& fail_open(std::string guard_name);
  PlanBuilder& autonomy(Autonomy autonomy);
  PlanBuilder& autonomy_rules(std::shared_ptr<const AutonomyRules> rules);
  // Rules for calls in scopes, used if there are no `autonomy_rules`. With `for_all` they know
  // scopes of their own and are asked about every call. They leave no trust records.
  PlanBuilder& scope_rules(std::shared_ptr<const AutonomyRules> rules, bool for_all);
  PlanBuilder& rules(std::shared_ptr<const CallRules> rules);
  PlanBuilder& time_limit(std::chrono::milliseconds limit);
  PlanBuilder& stream_limits(StreamLimits limits);
  PlanBuilder& durability(IntentDurability durability);
  PlanBuilder& approval_time(std::chrono::seconds time);
  PlanBuilder& approvals(ApprovalRules rules);
  // The reviewers if the policy names none. They are not part of the hash: a policy is the same on
  // every machine. `program_vouches` is as in the rules.
  PlanBuilder& reviewers(std::shared_ptr<const ReviewerBook> people, bool program_vouches = false);
  PlanBuilder& hook(std::shared_ptr<const EventHook> hook);
  PlanBuilder& sink(std::shared_ptr<const Sink> sink);
  PlanBuilder& approver(std::shared_ptr<const Approver> approver);
  PlanBuilder& stream_guard(std::shared_ptr<const StreamGuard> guard);
  PlanBuilder& model_rules(ModelRules rules);
  PlanBuilder& redaction_notice(bool shown);  // tells the agent that something was removed
  // Methods outside the protocol that may pass; `*` means any.
  PlanBuilder& pass_methods(std::set<std::string, std::less<>> methods);

  // Adds something that decides elsewhere to the hash, such as checks on answers of models.
  PlanBuilder& also(std::string name, json::value digest);

  // Refuses two guards with one name, a `fail_open` for a guard that does not exist, and a limit
  // that cuts results before they are searched for secrets (PI-72).
  Result<std::shared_ptr<const Plan>> build() &&;
  Result<std::shared_ptr<const Plan>> build() & { return std::move(*this).build(); }

 private:
  Result<void> check_names() const;
  Result<void> check_order() const;
  std::string dump() const;
  void add_extensions();

  Plan plan_;
  std::map<std::pair<std::string, std::string>, Classification> extension_tools_;
  std::vector<std::shared_ptr<const Guard>> extension_guards_;
  std::shared_ptr<const ReviewerBook> outside_reviewers_;
  bool program_vouches_ = false;
};

// Returns the plan in force. A reload replaces it; running calls keep theirs.
class PlanSource {
 public:
  virtual ~PlanSource() = default;
  virtual std::shared_ptr<const Plan> current() const = 0;
};

class FixedPlan final : public PlanSource {
 public:
  explicit FixedPlan(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
  std::shared_ptr<const Plan> current() const override { return plan_; }

 private:
  std::shared_ptr<const Plan> plan_;
};

}  // namespace sallyport::core
