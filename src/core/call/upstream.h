// Runs a call: an MCP server, a C++ function, a process, the host of a coding agent.
#pragma once

#include <memory>
#include <stop_token>

#include "base/async.h"
#include "core/handoff/assertion.h"
#include "core/plan/call_rules.h"
#include "core/result/delivery.h"
#include "sallyport/call.h"
#include "sallyport/envelope.h"
#include "sallyport/prepared.h"

namespace sallyport::core {

// `Error::cause` of a call that did not begin, so that the tool had no effect.
inline constexpr const char* kNotBegun = "not_begun";

class PreparingUpstream;

class Upstream {
 public:
  virtual ~Upstream() = default;

  // Runs the call. `cancel` is triggered on a cancel and at the deadline. An upstream that ignores
  // it is abandoned, and its later answer is only recorded. An error is a failure to reach the
  // tool; a failure of the tool itself is an error envelope. An answer in pieces goes through
  // `delivery` (PI-31).
  virtual Task<Envelope> invoke(Call call, std::shared_ptr<Delivery> delivery,
                                std::stop_token cancel) = 0;

  // Converts a released envelope to the result that callers and records see.
  virtual ToolResult result_of(const Envelope& released) const { return released.to_result(); }

  // False: there is no such tool, and the call is denied.
  virtual bool known() const { return true; }

  // True: the tool's own definition is a reason for more caution than the plan takes (AT-25,
  // AT-26).
  virtual bool raises_caution() const { return false; }

  // Digest of the tool's definition, which an approval binds; empty: it has none.
  virtual std::string definition() const { return {}; }

  // False: the host shows the result whatever the second door says (PI-33).
  virtual bool shows_release() const { return true; }

  // Who reports that the tool ran. No value: `invoke` runs it here.
  virtual std::optional<Assertion> assertion() const { return std::nullopt; }

  // Returns the input as the tool reads it, for the preview. An error denies the call (EV-86).
  virtual Result<json::value> structured_input(const Call& call) const { return call.input; }
  virtual std::string working_directory() const { return {}; }

  // What rules read in addition to the call.
  virtual UpstreamFacts facts() const { return {}; }

  // Returns this upstream if it prepares first, else null.
  virtual PreparingUpstream* preparing() { return nullptr; }
};

// Stands for a tool that does not exist. The call is decided and recorded like any other.
class UnknownTool final : public Upstream {
 public:
  Task<Envelope> invoke(Call call, std::shared_ptr<Delivery>, std::stop_token) override {
    co_return fail(ErrorCode::NotFound, "there is no tool " + call.tool);
  }
  bool known() const override { return false; }
};

// One step of a preparation.
struct PrepareStep {
  enum class Kind {
    Working,
    Ready,
    Invalid,  // the preparation is impossible: `text` says why
    Refused,  // a rule of the tool itself forbids it: `text` says which
  };
  Kind kind = Kind::Working;
  std::string text{};
  Prepared prepared{};                          // for `Ready`
  std::optional<event::DeniedAction> action{};  // for `Refused` of a built-in tool
  std::string detail{};                         // detail of that event; empty: `text` is used
};

class Preparation {
 public:
  virtual ~Preparation() = default;
  // No value: the preparation ended without being ready.
  virtual Task<std::optional<PrepareStep>> next() = 0;
};

// A tool that says what it would do, waits for a yes, and then does exactly that (AU-61..AU-68).
class PreparingUpstream : public Upstream {
 public:
  PreparingUpstream* preparing() final { return this; }

  virtual std::shared_ptr<Preparation> prepare(Call call, std::stop_token cancel) = 0;
  // Called once for a preparation that will not run.
  virtual void cancel(std::string operation_id) = 0;
  // True: prepared operations survive a restart of this process.
  virtual bool outlives_process() const { return false; }

  // `invoke` gets the object of AU-63 as input and runs that operation at that revision. A tool
  // that finds another revision does nothing and returns this error.
  static std::unexpected<Error> other_revision(std::string message) {
    return fail(ErrorCode::Conflict, std::move(message), {}, "other_revision");
  }
};

}  // namespace sallyport::core
