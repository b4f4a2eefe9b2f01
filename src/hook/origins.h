// The origins of calls while they are decided: the host and the event, for their records. All calls
// share one plan, so origins are kept beside it.
//
//   const Origins::Added added = origins.add(call, {{"event", "PreToolUse"}});
//   co_await governor.run(call, ...);   // its record says so
#pragma once

#include <map>
#include <tuple>

#include "base/guarded.h"
#include "core/plan/guard.h"

namespace sallyport::hook {

// From any thread.
class Origins {
  using Key = std::tuple<std::string, std::string, std::string>;  // agent, session, tool call id
  using Table = std::multimap<Key, json::value>;

 public:
  // Keeps an origin as long as this lives.
  class Added {
   public:
    Added(Origins& origins, const Call& call, json::value origin);
    Added(const Added&) = delete;
    ~Added();

   private:
    Origins& origins_;
    Table::iterator place_;
  };
  Added add(const Call& call, json::value origin) { return {*this, call, std::move(origin)}; }

  // Null: unknown.
  json::value of(const Call& call) const;

 private:
  static Key key_of(const Call& call);
  Guarded<Table> table_;
};

// Adds the origin to the record of a call. Never denies. `origins` must outlive it.
class OriginGuard final : public core::Guard {
 public:
  explicit OriginGuard(const Origins& origins);
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext& context) const override;

 private:
  const Origins& origins_;
  core::GuardTraits traits_;
};

}  // namespace sallyport::hook
