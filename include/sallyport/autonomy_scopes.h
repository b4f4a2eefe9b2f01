// Scopes of autonomy around a piece of work: they only narrow what an agent may do by itself
// (AT-13 to AT-16).
//
//   AutonomyScopes scopes;
//   const auto inside = scopes.push({{"tier", "suggest"}, {"budget", {{"max_per_hour", 5}}}});
//   engine->call({.agent_id = "agent:a", .tool = "write", .scopes = scopes});   // only proposed
//   run_sub_agent(scopes);   // a copy: it starts with what holds here
//
// A value that belongs to a task. A copy is a stack of its own; one thread at a time.
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

class AutonomyScopes {
 public:
  AutonomyScopes() = default;

  // Leaves its scope when it is destroyed, exceptions included. The stack must outlive it.
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

  // `policy` has the members of the section `autonomy` of a policy (docs/autonomy.md). Where it
  // asks for more than the scopes around it, those count. `InvalidInput`: an unknown member, a
  // scope for another agent than `agent_id`, too few reviewers left, or more than 16 scopes.
  Result<Entered> push(const json::value& policy, std::string_view agent_id = {});

  std::size_t depth() const;
  // Null: there is no scope. For the engine.
  const std::shared_ptr<const autonomy::ScopeStack>& stack() const { return stack_; }

 private:
  std::shared_ptr<const autonomy::ScopeStack>
      stack_{};  // shared: copies are cheap, none changes it
};

}  // namespace sallyport
