// A policy compiled once: immutable, hashed, and pinned for the whole life of a call.
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

// When the intent of a call is on disk: what a crash may leave without a trace.
enum class IntentDurability {
  Strict,  // before every call
  Effect,  // before calls that have an effect; others become durable with their outcome
  // Together with the outcome, for all calls, and no call waits for the disk. A crash can leave an
  // effect without a record. A power loss can lose the records of the last 0.2 s.
  Relaxed,
};
std::string_view to_string(IntentDurability durability);

// Programs outside that a policy names and that guard nothing: they receive events and records, or
// answer approval requests in the name of one reviewer.
struct PlanListeners {
  std::vector<std::shared_ptr<const EventHook>> hooks{};
  std::vector<std::shared_ptr<const Sink>> sinks{};
  std::shared_ptr<const Approver> approver{};
};

class Plan {
 public:
  const std::string& hash() const { return hash_; }

  // The entry for server and tool, then that for the tool anywhere; unclassified is `Confirm`.
  const Classification& classify(const Call& call) const;

  const std::vector<std::shared_ptr<const Guard>>& guards() const { return guards_; }
  const std::vector<std::shared_ptr<const ResultGuard>>& result_guards() const {
    return result_guards_;
  }
  bool fails_open(std::string_view guard) const { return fail_open_.contains(guard); }
  Autonomy autonomy() const { return autonomy_; }
  // Decides instead of `autonomy` where it is there.
  const std::shared_ptr<const AutonomyRules>& autonomy_rules() const { return autonomy_rules_; }
  // Who decides about this call: `autonomy_rules`; where there are none and the call has scopes or
  // a tier of its context, what the program gave for such calls. Null: `autonomy` alone.
  const AutonomyRules* rules_for(const Call& call) const;
  // Null: the policy has none, and calls are decided without them (RU-1).
  const std::shared_ptr<const CallRules>& rules() const { return rules_; }
  std::chrono::milliseconds time_limit() const { return time_limit_; }
  const StreamLimits& stream_limits() const { return stream_limits_; }
  IntentDurability durability() const { return durability_; }
  std::chrono::seconds approval_time() const { return approval_time_; }
  const ApprovalRules& approvals() const { return approvals_; }
  const PlanListeners& listeners() const { return listeners_; }
  // Is a guard among them that asks another program about calls or results?
  bool asks_outside() const { return asks_outside_; }
  bool redaction_notice() const { return redaction_notice_; }
  // Checks of texts to and from models. Null: the policy has none.
  const std::shared_ptr<const StreamGuard>& stream_guard() const { return stream_guard_; }
  const ModelRules& model_rules() const { return model_rules_; }
  // May a message with a method that its protocol does not have pass?
  bool passes_method(std::string_view method) const {
    return passed_methods_.contains(method) || passed_methods_.contains("*");
  }

  // A stable text of all that the policy decides, which is what the hash is over.
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
  // An empty server stands for any.
  PlanBuilder& tool(std::string server, std::string name, Classification classification);
  // Is there an entry for this tool, on this server or anywhere?
  bool knows(const std::string& server, const std::string& name) const;
  PlanBuilder& guard(std::shared_ptr<const Guard> guard);
  // What a front brings along, whatever the policy says: no part of the hash, so that one policy
  // has one hash behind every door. The policy's own word about a tool counts before it.
  PlanBuilder& brings_tool(std::string server, std::string name, Classification classification);
  PlanBuilder& brings_guard(std::shared_ptr<const Guard> guard);
  PlanBuilder& result_guard(std::shared_ptr<const ResultGuard> guard);
  PlanBuilder& fail_open(std::string guard_name);
  PlanBuilder& autonomy(Autonomy autonomy);
  PlanBuilder& autonomy_rules(std::shared_ptr<const AutonomyRules> rules);
  // For calls in scopes, where there are no `autonomy_rules`; `for_all`: they know scopes of their
  // own, and are asked about every call. They leave no trust records.
  PlanBuilder& scope_rules(std::shared_ptr<const AutonomyRules> rules, bool for_all);
  PlanBuilder& rules(std::shared_ptr<const CallRules> rules);
  PlanBuilder& time_limit(std::chrono::milliseconds limit);
  PlanBuilder& stream_limits(StreamLimits limits);
  PlanBuilder& durability(IntentDurability durability);
  PlanBuilder& approval_time(std::chrono::seconds time);
  PlanBuilder& approvals(ApprovalRules rules);
  // People whom the policy does not name, where it names none. No part of the hash: a policy is the
  // same on every machine. `program_vouches` as in the rules.
  PlanBuilder& reviewers(std::shared_ptr<const ReviewerBook> people, bool program_vouches = false);
  PlanBuilder& hook(std::shared_ptr<const EventHook> hook);
  PlanBuilder& sink(std::shared_ptr<const Sink> sink);
  PlanBuilder& approver(std::shared_ptr<const Approver> approver);
  PlanBuilder& stream_guard(std::shared_ptr<const StreamGuard> guard);
  PlanBuilder& model_rules(ModelRules rules);
  PlanBuilder& redaction_notice(bool shown);  // tells the agent that something was taken out
  // Methods beyond those of the protocol that may pass; `*` stands for any.
  PlanBuilder& pass_methods(std::set<std::string, std::less<>> methods);

  // Something that decides elsewhere, as checks of a model's answer do: part of the hash.
  PlanBuilder& also(std::string name, json::value digest);

  // Refuses two guards of one name, an exemption for a guard that is not there, and a cut of
  // results before they are searched for secrets (PI-72).
  Result<std::shared_ptr<const Plan>> build() &&;
  Result<std::shared_ptr<const Plan>> build() & { return std::move(*this).build(); }

 private:
  Result<void> check_names() const;
  Result<void> check_order() const;
  std::string dump() const;
  void add_what_was_brought();

  Plan plan_;
  std::map<std::pair<std::string, std::string>, Classification> brought_tools_;
  std::vector<std::shared_ptr<const Guard>> brought_guards_;
  std::shared_ptr<const ReviewerBook> people_elsewhere_;
  bool program_vouches_ = false;
};

// The plan in force. A reload swaps it; calls that run keep theirs.
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
