// Where calls came from while they are decided: which event of which host, for their records. The
// plan is the same for all of them, so that is told beside it.
//
//   const Origins::Told told = origins.tell(call, {{"event", "PreToolUse"}});
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
  // For as long as it lives.
  class Told {
   public:
    Told(Origins& origins, const Call& call, json::value origin);
    Told(const Told&) = delete;
    ~Told();

   private:
    Origins& origins_;
    Table::iterator place_;
  };
  Told tell(const Call& call, json::value origin) { return {*this, call, std::move(origin)}; }

  // Null: unknown.
  json::value of(const Call& call) const;

 private:
  static Key key_of(const Call& call);
  Guarded<Table> table_;
};

// Says it in the record of a call. Never stops anything. `origins` must outlive it.
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
