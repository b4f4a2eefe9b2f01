// Autonomy scopes around a piece of work. A scope only narrows what an agent may do by itself
// (AT-13 to AT-16).
//
//   AutonomyScopes scopes;
//   const auto inside = scopes.push({{"tier", "suggest"}, {"budget", {{"max_per_hour", 5}}}});
//   engine->call({.agent_id = "agent:a", .tool = "write", .scopes = scopes});   // only proposed
//   run_sub_agent(scopes);   // a copy: it starts with what holds here
//
// The stack is a value and belongs to one task. A copy is an independent stack. Use each stack on
// one thread at a time.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

namespace autonomy {
class ScopeStack;
}

// A stack of scopes. A copy costs one pointer.
class AutonomyScopes {
 public:
  AutonomyScopes() = default;

  // One entered scope. The caller of `push` owns it. It leaves the scope when it is destroyed. The
  // stack must outlive it.
  class Entered {
   public:
    Entered(Entered&& other) noexcept
        : scopes_(std::exchange(other.scopes_, nullptr)), before_(std::move(other.before_)) {}
    Entered& operator=(Entered&&) = delete;
    ~Entered() {
      if (scopes_ != nullptr) scopes_->stack_ = std::move(before_);
    }

   private:
    friend class AutonomyScopes;
    Entered(AutonomyScopes& scopes, std::shared_ptr<const autonomy::ScopeStack> before)
        : scopes_(&scopes), before_(std::move(before)) {}
    AutonomyScopes* scopes_;
    std::shared_ptr<const autonomy::ScopeStack> before_;
  };

  // Enters a scope. `policy` has the members of the section `autonomy` of a policy
  // (docs/autonomy.md). A scope never gives more than the scopes around it. `InvalidInput`: an
  // unknown member, a scope for another agent than `agent_id`, too few reviewers left, or more than
  // 16 scopes.
  Result<Entered> push(const json::value& policy, std::string_view agent_id = {});

  std::size_t depth() const;  // the number of entered scopes
  // Used by the engine. Null: there is no scope.
  const std::shared_ptr<const autonomy::ScopeStack>& stack() const { return stack_; }

 private:
  std::shared_ptr<const autonomy::ScopeStack> stack_{};  // shared between copies and never changed
};

}  // namespace sallyport
