// Looks at a call, or at its result, and says what it thinks. Never acts, keeps no state of a call.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async.h"
#include "core/plan/call_rules.h"
#include "core/record/recorder.h"
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
  bool waits = false;     // may suspend, and so needs a timer that ends it
  bool outside = false;   // asks another program, which is told what rules know of the call
  std::optional<std::chrono::milliseconds> limit{};  // else 2 s before a call, 1 s after it
  json::value settings{};  // what it was configured with: part of the plan's hash
};

inline constexpr std::chrono::milliseconds kGuardLimit{2000};
inline constexpr std::chrono::milliseconds kResultGuardLimit{1000};

// What rules know of a call, for guards that tell another program about it.
struct CallSurroundings {
  UpstreamFacts upstream{};
  std::vector<std::string> workspace{};  // of the session; empty: unknown
  json::array rules{};                   // that matched, as in records
  std::string policy_hash{};
};

// What a guard can see beside the call.
struct GuardContext {
  Classification classification{};
  unsigned pass = 1;  // of the deciding guards over one call
  Preview preview{};
  // The facts of the decision, all of one moment; null: a guard reads them itself.
  RecordReader* facts = nullptr;
  std::shared_ptr<const CallSurroundings> around{};  // null unless the guard is `outside`
};

// The first door. `const` and callable from any thread.
class Guard {
 public:
  virtual ~Guard() = default;
  virtual const GuardTraits& traits() const = 0;

  // `call.input` is the input as the guards before left it. An error, an exception or an answer
  // behind the limit denies, unless the plan says otherwise.
  virtual Task<Verdict> judge(const Call& call, const GuardContext& context) const = 0;
};

// The second door. A rewrite holds an envelope (PI-22) of the same kind.
class ResultGuard {
 public:
  virtual ~ResultGuard() = default;
  virtual const GuardTraits& traits() const = 0;
  virtual Task<Verdict> judge(const Envelope& result, const ResultContext& context) const = 0;
};

}  // namespace sallyport::core
