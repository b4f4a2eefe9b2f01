// A loaded policy, with everything that judges events of coding agents by it. A daemon keeps it
// until its file changes.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/file_state.h"
#include "core/call/governor.h"
#include "core/handoff/hand_offs.h"
#include "hook/origins.h"
#include "policy/policy_loader.h"
#include "workspace/workspace.h"

namespace sallyport::app {

// The client of a daemon names the policy. A pipe or a device is refused, because all clients would
// wait for it.
Result<policy::Policy> read_hook_policy(const policy::PolicyOrigin& origin,
                                        const guardrails::PatternStore* patterns);

// The tools of the coding agents themselves (AT-23), and the origin of each call. `origins` must
// outlive the plan.
void extend_hook_plan(core::PlanBuilder& plan, const hook::Origins& origins);

class HookPolicy {
 public:
  struct Parts {
    Workspace& workspace;
    core::Recorder&
        recorder;  // for what is judged: the ledger of the workspace, or one that counts
    const hook::Origins& origins;
    // Where it is read and compiled, which may take seconds; null: right here.
    boost::asio::thread_pool* aside = nullptr;
  };
  // When this returns, the policy is in force and recorded. An error: the policy is invalid, and
  // nothing may be judged by it.
  static Task<std::shared_ptr<HookPolicy>> load(Parts parts, std::string name);
  HookPolicy(const HookPolicy&) = delete;

  const std::string& name() const { return origin_.name; }
  // True if its file has changed, is gone, or was written so shortly before it was read that a
  // change could be missed.
  bool stale() const;

  const core::Plan& plan() const { return *plan_; }
  const std::shared_ptr<const guardrails::Guardrails>& guardrails() const { return guardrails_; }
  guards::Excerpts excerpts() const { return policy::excerpts_of(policy_); }
  core::Governor& governor() { return governor_; }
  core::HandOffs& hand_offs() { return hand_offs_; }

  // True if the request is about a call that needs no human, no second person and no named reviewer
  // (AP-33).
  bool local_yes_counts(const json::object& request) const;

 private:
  struct Read {
    policy::PolicyOrigin origin;
    std::optional<FileState> file{};
    std::optional<FileState> extended{};  // of the file that it extends
    policy::Policy policy{};
    std::shared_ptr<const guardrails::Guardrails> guardrails{};
    std::shared_ptr<const core::Plan> plan{};
  };
  HookPolicy(const Parts& parts, Read read);
  static Result<Read> read(const Parts& parts, policy::PolicyOrigin origin);

  policy::PolicyOrigin origin_;
  std::optional<FileState> file_;
  std::optional<FileState> extended_;
  policy::Policy policy_;
  std::shared_ptr<const guardrails::Guardrails> guardrails_;
  std::shared_ptr<const core::Plan> plan_;
  core::FixedPlan plans_;
  core::Governor governor_;
  core::Continuations continuations_;
  core::HandOffs hand_offs_;
};

}  // namespace sallyport::app
