// The hooks that receive events, their order, and the effect of a hook that fails (EV-55..EV-63).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "core/record/draft.h"
#include "sallyport/event.h"
#include "sallyport/subject.h"
#include "sallyport/topic.h"

namespace sallyport::core {

// Events that a hook adds to topics of its program.
using HookRows = std::vector<TopicEvent>;
inline constexpr std::size_t kMostHookRows = 16;  // for one event

// The cause in the error of a hook that refuses on purpose. The error stops the announced action,
// also if the hook may fail open.
inline constexpr std::string_view kHookRefuses = "hook_refuses";

// Receives the events that it wants, already redacted. `const` and callable from any thread.
class EventHook {
 public:
  virtual ~EventHook() = default;
  virtual const std::string& name() const = 0;
  virtual bool waits() const { return false; }  // may suspend, and so needs a timer that ends it
  // The longest wait for this hook. No value: the limit of the registry.
  virtual std::optional<std::chrono::milliseconds> limit() const { return std::nullopt; }
  virtual bool fails_open() const { return false; }  // its failure is recorded and stops nothing
  // False: the hook is not notified. `subject` has the names as the client gave them.
  virtual bool wants(const Subject& /*subject*/) const { return true; }
  // An error on an announcing event stops the announced action; on a reporting event it is
  // recorded. Returns rows to write beside the event, mostly none.
  virtual Task<HookRows> on_event(const Event& event, const Subject& subject) const = 0;
};

// The registered hooks. The ledger is not one of them: the Governor writes an event before it
// notifies any hook, and no hook can precede, replace or remove that step.
class HookRegistry {
 public:
  HookRegistry() = default;
  explicit HookRegistry(std::chrono::milliseconds limit) : limit_(limit) {}

  // `InvalidInput`: the name is empty or taken.
  Result<void> with_hook(std::shared_ptr<const EventHook> hook);
  Result<void> extend(std::vector<std::shared_ptr<const EventHook>> hooks);

  struct Failure {
    std::string hook;
    std::string error;
    bool refuses = false;  // it did not fail: it refuses on purpose
    bool passes = false;   // it failed, and may fail open
  };
  struct Notified {
    std::vector<Failure> failures{};
    std::vector<Draft> rows{};  // of hooks that did not fail
  };
  // Notifies every hook in order, even if earlier hooks failed. `shown` is the subject without
  // secrets, which hooks see.
  Async<Notified> notify(Event event, Subject subject, Subject shown, const Clock& clock) const;

  std::chrono::milliseconds limit() const { return limit_; }
  bool empty() const { return hooks_.empty(); }
  std::size_t size() const { return hooks_.size(); }

 private:
  std::chrono::milliseconds limit_ = std::chrono::seconds(5);
  std::vector<std::shared_ptr<const EventHook>> hooks_;
};

}  // namespace sallyport::core
