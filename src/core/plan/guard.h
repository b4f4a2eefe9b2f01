// Guards judge calls and results. A guard never acts and keeps no state of a call.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async.h"
#include "core/plan/call_rules.h"
#include "core/record/record_reader.h"
#include "sallyport/call.h"
#include "sallyport/classification.h"
#include "sallyport/envelope.h"
#include "sallyport/preview.h"
#include "sallyport/result_context.h"
#include "sallyport/verdict.h"

namespace sallyport::core {

enum class Stage { Grant, ToolUse, PreHook, Authorizer, Autonomy, External };
std::string_view to_string(Stage stage);

// The properties that the author of a guard declares.
struct GuardTraits {
  std::string name;
  Stage stage = Stage::ToolUse;
  bool rewrites = false;  // runs once, before the guards that decide
  bool waits = false;     // may suspend, so it runs against a timer
  bool outside = false;   // asks an external program, which gets what rules know of the call
  std::optional<std::chrono::milliseconds> limit{};  // default: 2 s before a call, 1 s after it
  json::value settings{};                            // its configuration; part of the plan's hash
};

inline constexpr std::chrono::milliseconds kGuardLimit{2000};
inline constexpr std::chrono::milliseconds kResultGuardLimit{1000};

// What rules know about a call, for guards that tell an external program about it.
struct CallSurroundings {
  UpstreamFacts upstream{};
  std::vector<std::string> workspace{};  // the workspace of the session; empty: unknown
  json::array rules{};                   // the rules that matched, as in records
  std::string policy_hash{};
};

// What a guard knows in addition to the call.
struct GuardContext {
  Classification classification{};
  unsigned pass = 1;  // number of the pass of the deciding guards
  Preview preview{};
  // The facts of the decision, all of one moment. Null: the guard reads them itself.
  RecordReader* facts = nullptr;
  std::shared_ptr<const CallSurroundings> around{};  // null unless the guard is `outside`
};

// Judges a call at the first door. The plan owns it. `judge` may be called from any thread.
class Guard {
 public:
  virtual ~Guard() = default;
  virtual const GuardTraits& traits() const = 0;

  // `call.input` is the input after the earlier guards. An error, an exception or a late answer
  // denies the call, unless the plan says otherwise.
  virtual Task<Verdict> judge(const Call& call, const GuardContext& context) const = 0;
};

// Judges a result at the second door. The plan owns it. A rewrite holds an envelope of the same
// kind (PI-22).
class ResultGuard {
 public:
  virtual ~ResultGuard() = default;
  virtual const GuardTraits& traits() const = 0;
  virtual Task<Verdict> judge(const Envelope& result, const ResultContext& context) const = 0;
};

}  // namespace sallyport::core
