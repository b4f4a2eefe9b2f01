// Gates apply the guardrails of a policy to text that the program streams itself: answers of its
// own model, input of its users, results of tools (GR-43 to GR-58).
//
//   Result<std::unique_ptr<GuardrailGate>> gate = engine->arm(GuardrailStage::Output);
//   for (const std::string& delta : deltas) show((*gate)->push(delta)->text);
//   show((*gate)->finish()->text);
//
// The output does not depend on how the text is cut into pieces. No byte of a match is released.
// The ledger records each block, and the first redaction of each check, before its effect is
// released.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

// The place of a text. Arguments of a call are not a stream; use `MessageGate` for them.
enum class GuardrailStage { Input, Output, ToolOutput };

// One match of one check.
struct GuardrailHit {
  std::string check{};
  std::string action{};  // `block`, `redact` or `log`
  std::string reason_code{};
  std::optional<std::uint64_t> start{};  // byte offsets in the text as it was pushed
  std::optional<std::uint64_t> end{};
  json::object json{};  // the hit as a `guard_hit` entry has it, without `matched` (GR-18)
};

// What one push or finish releases.
struct GateOutput {
  std::string text{};  // the released text: redacted, or the replacement of a block
  std::vector<GuardrailHit> hits{};
  bool blocked = false;  // true: the gate releases nothing more
};

// The gate of one stream. The caller owns it, uses it on one thread at a time, and destroys it
// before the engine.
class GuardrailGate {
 public:
  GuardrailGate(const GuardrailGate&) = delete;
  ~GuardrailGate();

  // Checks the next piece and returns what may leave now. After a block it returns no text. After
  // `finish` it returns `Conflict`. If the ledger fails, nothing leaves, now or later.
  Result<GateOutput> push(std::string_view delta);
  // Decides about the held bytes, releases the rest, and records which checks read the text.
  Result<GateOutput> finish();
  std::uint64_t held() const;  // bytes that cannot be decided before more text arrives

 private:
  friend class Engine;
  struct Body;
  explicit GuardrailGate(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

enum class MessageChannel { Text, Reasoning };

// The decision about the arguments of a call.
struct GatedCall {
  std::optional<std::string> arguments{};  // unchanged or redacted; no value: the call is refused
  std::string reason{};                    // why it is refused, for the model
  std::vector<GuardrailHit> hits{};
};

// The gate of one message of a model. Text, reasoning and the arguments of each tool call are
// separate channels (GR-54). A block on text or reasoning ends the message, and calls that have not
// started never start (GR-55). The caller owns it, uses it on one thread at a time, and destroys it
// before the engine.
class MessageGate {
 public:
  MessageGate(const MessageGate&) = delete;
  ~MessageGate();

  // As `push` and `finish` of `GuardrailGate`, for one channel.
  Result<GateOutput> push(MessageChannel channel, std::string_view delta);
  Result<GateOutput> finish(MessageChannel channel);

  // `Conflict`: the message has a call with this id. `Exhausted`: it has 1,024 calls.
  Result<void> open_call(const std::string& id, std::string_view tool);
  // Returns what may leave now: everything if no check looks at the arguments of this tool, else
  // nothing until they are complete. `Exhausted`: over 16 MiB; the call is refused.
  Result<std::string> push_arguments(const std::string& id, std::string_view delta);
  // Decides about the call. `InvalidInput`: a check applies and the arguments are not JSON; the
  // call is refused.
  Result<GatedCall> close_call(const std::string& id);
  // Returns whether the call may run. If true, the call has started and nothing later in this
  // message stops it.
  Result<bool> start_call(const std::string& id);

 private:
  friend class Engine;
  struct Body;
  explicit MessageGate(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace sallyport
