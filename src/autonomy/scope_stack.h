// Policies that library code, a session or a parent agent put around a piece of work. They only
// narrow: whatever an inner one asks for, the outer one still holds (AT-13..AT-16).
//
//   ScopeStack scopes;                                   // of one task, wherever it runs
//   SALLYPORT_TRY(ScopeStack::Entered inside, scopes.enter(policy, agent));
//   run(sub_agent, scopes);                              // a copy: it starts with what holds here
//
// A value that belongs to a task: a copy is a stack of its own. One thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "autonomy/autonomy_policy.h"

namespace sallyport::autonomy {

// What all policies around a call say together about asking people and counting.
struct Bounds {
  std::vector<std::string> reviewers{};  // empty: no reviewers are named
  std::uint64_t quorum = 1;
  std::optional<std::uint64_t> deadline_s{};
  std::optional<std::uint64_t> use_within_s{};
  Budget budget{};

  // `InvalidInput`: no reviewers, or too few, would be left to answer (AT-15).
  Result<Bounds> narrowed(const AutonomyPolicy& inner) const;

  bool operator==(const Bounds&) const = default;
};

class ScopeStack {
 public:
  ScopeStack() = default;
  // On top of the policy of the plan, which no scope can widen.
  explicit ScopeStack(const AutonomyPolicy& base);

  // Leaves the scope when it goes, however that comes about.
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

  // `authenticated` is the agent the front knows, empty where it knows none: a scope that names
  // another one is refused (AT-10). The stack must outlive what this returns.
  Result<Entered> enter(AutonomyPolicy scope, std::string_view authenticated = {});
  // The same for good: for a stack that nothing leaves.
  Result<void> add(AutonomyPolicy scope, std::string_view authenticated = {});
  // Puts the scopes of `other` on top of these.
  Result<void> add_all(const ScopeStack& other);

  // The lowest tier that a scope gives, nothing where no scope speaks of such an action.
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
