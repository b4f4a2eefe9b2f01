// What actually executes: an MCP server, a model API, a C++ function, a process.
#pragma once

#include <memory>
#include <stop_token>

#include "base/async.h"
#include "core/call/assertion.h"
#include "core/call/delivery.h"
#include "core/plan/call_rules.h"
#include "sallyport/call.h"
#include "sallyport/envelope.h"
#include "sallyport/prepared.h"

namespace sallyport::core {

class PreparingUpstream;

class Upstream {
 public:
  virtual ~Upstream() = default;

  // `cancel` is asked for on cancel and on deadline; what does not heed it is left behind, and what
  // it answers then is looked at for the record only (PI-31). An error is a fault of the way there;
  // a tool's own failure is an error envelope. An answer in pieces goes through `delivery`.
  virtual Task<Envelope> invoke(Call call, std::shared_ptr<Delivery> delivery,
                                std::stop_token cancel) = 0;

  // What a caller and a record see of an answer that may be shown.
  virtual ToolResult result_of(const Envelope& released) const { return released.to_result(); }

  // False: there is no such tool, and the call is denied.
  virtual bool known() const { return true; }

  // True: what it says of itself is reason for more care than the plan takes (AT-25, AT-26).
  virtual bool raises_caution() const { return false; }

  // Digest of what it says of itself, which an approval binds; empty: it says nothing.
  virtual std::string definition() const { return {}; }

  // False: the host shows the result whatever the second door says (PI-33).
  virtual bool shows_release() const { return true; }

  // Who reports that the tool ran. No value: `invoke` runs it here.
  virtual std::optional<Assertion> assertion() const { return std::nullopt; }

  // How the tool understands the input, for the preview. An error denies the call (EV-86).
  virtual Result<json::value> structured_input(const Call& call) const { return call.input; }
  virtual std::string working_directory() const { return {}; }

  // What rules look at beside the call.
  virtual UpstreamFacts facts() const { return {}; }

  // The tool, if it prepares first.
  virtual PreparingUpstream* preparing() { return nullptr; }
};

// Stands for a tool that does not exist: the call is decided and recorded like any other.
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
    Invalid,  // what was to be prepared cannot be: `text` says why
    Refused,  // a rule of the tool itself forbids it: `text` says which
  };
  Kind kind = Kind::Working;
  std::string text{};
  Prepared prepared{};                          // of `Ready`
  std::optional<event::DeniedAction> action{};  // of `Refused`, where the tool is a built-in one
  std::string detail{};                         // of that event; empty: the text
};

class Preparation {
 public:
  virtual ~Preparation() = default;
  // Nothing: it ended without being ready.
  virtual Task<std::optional<PrepareStep>> next() = 0;
};

// A tool that says what it would do, waits for a yes, and then does exactly that (AU-61..AU-68).
class PreparingUpstream : public Upstream {
 public:
  PreparingUpstream* preparing() final { return this; }

  virtual std::shared_ptr<Preparation> prepare(Call call, std::stop_token cancel) = 0;
  // Once for a preparation that will not be executed.
  virtual void cancel(std::string operation_id) = 0;
  // Prepared operations are still there after a restart of this process.
  virtual bool outlives_process() const { return false; }

  // `invoke` gets the object of AU-63 as input and executes that operation at that revision. A tool
  // that finds another revision has done nothing and says so with this error.
  static std::unexpected<Error> other_revision(std::string message) {
    return fail(ErrorCode::Conflict, std::move(message), {}, "other_revision");
  }
};

}  // namespace sallyport::core
