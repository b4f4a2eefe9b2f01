// The one place where the failure of a guard or a hook becomes a value.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "base/async.h"
#include "base/clock.h"
#include "core/event/hook_registry.h"
#include "core/plan/guard.h"
#include "core/record/sink.h"

namespace sallyport::core {

// The cause in the error of an external guard that is not asked here.
inline constexpr std::string_view kGuardNotOurs = "guard_not_ours";

// The cause in the error of a guard whose answer is no verdict (PI-86).
inline constexpr std::string_view kNoVerdict = "no_verdict";

// How a guard failed.
enum class GuardFailure {
  Error,      // it gave an error
  Exception,  // it threw
  Timeout,
  Malformed,  // it gave no verdict, or one that no record can hold or its door does not allow
  NotOurs,    // an external guard that is not asked here; its verdict is unknown
};
std::string_view to_string(GuardFailure failure);

struct Judged {
  Verdict verdict{};
  std::optional<GuardFailure> failure{};
  bool cancelled = false;  // the caller no longer waits: there is no verdict
  std::string detail{};    // for the log only, never for the agent
  std::uint64_t duration_us = 0;
};

// Asks a guard. `cancel` ends the wait for a guard that waits.
Async<Judged> judge(std::shared_ptr<const Guard> guard, const Call& call,
                    const GuardContext& context, const Clock& clock, std::stop_token cancel);
Async<Judged> judge(std::shared_ptr<const ResultGuard> guard, const Envelope& envelope,
                    const ResultContext& context, const Clock& clock, std::stop_token cancel);

// Notifies a hook. Returns the rows that it adds, or why it failed.
Task<HookRows> notified(std::shared_ptr<const EventHook> hook, const Event& event,
                        const Subject& subject, std::chrono::milliseconds limit,
                        const Clock& clock);

// Gives a record to a sink. Returns the text of its failure, if it failed.
Async<std::optional<std::string>> taken(std::shared_ptr<const Sink> sink,
                                        const AuditRecord& record);

}  // namespace sallyport::core
