// Policies that library code, a session or a parent agent put around a piece of work. They only
// narrow: an inner policy never lifts a limit of an outer one (AT-13..AT-16).
//
//   ScopeStack scopes;                                   // of one task, wherever it runs
//   SALLYPORT_TRY(ScopeStack::Entered inside, scopes.enter(policy, agent));
//   run(sub_agent, scopes);                              // a copy: it starts with what holds here
//
// Each task owns its stack; a copy is independent. Used by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "autonomy/autonomy_policy.h"

namespace sallyport::autonomy {

// The limits on approvals and budgets that all policies around a call set together.
struct Bounds {
  std::vector<std::string> reviewers{};  // empty: no reviewers are named
  std::uint64_t quorum = 1;
  std::optional<std::uint64_t> deadline_s{};
  std::optional<std::uint64_t> use_within_s{};
  Budget budget{};

  // `InvalidInput`: too few reviewers would be left to answer (AT-15).
  Result<Bounds> narrowed(const AutonomyPolicy& inner) const;

  bool operator==(const Bounds&) const = default;
};

class ScopeStack {
 public:
  ScopeStack() = default;
  // Starts from the policy of the plan, which no scope can widen.
  explicit ScopeStack(const AutonomyPolicy& base);

  // Leaves the scope on destruction.
  class Entered {
   public:
    Entered(Entered&& other) noexcept : stack_(std::exchange(other.stack_, nullptr)) {}
    Entered& operator=(Entered&&) = delete;
    ~Entered() {
      if (stack_ != nullptr) stack_->leave();
    }

   private:
    friend class ScopeStack;
    explicit Entered(ScopeStack& stack) : stack_(&stack) {}
    ScopeStack* stack_;
  };

  // `authenticated` is the agent that the front authenticated, or empty. A scope that names another
  // agent is refused (AT-10). The stack must outlive the returned object.
  Result<Entered> enter(AutonomyPolicy scope, std::string_view authenticated = {});
  // The same, but the scope is never left.
  Result<void> add(AutonomyPolicy scope, std::string_view authenticated = {});
  // Puts the scopes of `other` on top of these.
  Result<void> add_all(const ScopeStack& other);

  // The lowest tier of all scopes. No value: no scope sets one for this action.
  std::optional<Autonomy> cap(const Action& action) const;
  bool needs_human_for(const Action& action) const;
  const Bounds& bounds() const { return bounds_.back(); }
  std::size_t depth() const { return scopes_.size(); }

 private:
  Result<void> add_shared(std::shared_ptr<const AutonomyPolicy> scope);
  void leave();

  std::vector<std::shared_ptr<const AutonomyPolicy>> scopes_;
  std::vector<Bounds> bounds_{Bounds{}};  // one more than there are scopes
};

}  // namespace sallyport::autonomy
