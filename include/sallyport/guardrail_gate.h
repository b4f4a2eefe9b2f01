// The guardrails of a policy on text that a program streams itself: answers of its own model, input
// of its users, results on their way (GR-43 to GR-58).
//
//   Result<std::unique_ptr<GuardrailGate>> gate = engine->arm(GuardrailStage::Output);
//   for (const std::string& delta : deltas) show((*gate)->push(delta)->text);
//   show((*gate)->finish()->text);
//
// What goes out does not depend on how the text is cut. Not one byte of a match leaves. Each block
// and each first redaction of a check is in the ledger before its effect goes out.
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

// Where a text stands. Arguments of a call are no stream: `MessageGate` takes them.
enum class GuardrailStage { Input, Output, ToolOutput };

struct GuardrailHit {
  std::string check{};
  std::string action{};  // `block`, `redact` or `log`
  std::string reason_code{};
  std::optional<std::uint64_t> start{};  // bytes of the text as it was pushed
  std::optional<std::uint64_t> end{};
  json::object json{};  // all members of GR-18 but `matched`
};

struct GateOutput {
  std::string text{};  // what a reader may see now: redacted, and the replacement of a block
  std::vector<GuardrailHit> hits{};
  bool blocked = false;  // nothing follows
};

// One stream. Owned by one caller at a time; the engine must outlive it.
class GuardrailGate {
 public:
  GuardrailGate(const GuardrailGate&) = delete;
  ~GuardrailGate();

  // After a block: nothing. After `finish`: `Conflict`. An error of the ledger lets nothing out,
  // and the gate stays shut.
  Result<GateOutput> push(std::string_view delta);
  // Decides what was open, releases the rest, and puts on record which checks have looked.
  Result<GateOutput> finish();
  std::uint64_t held() const;  // bytes that wait for what follows

 private:
  friend class Engine;
  struct Body;
  explicit GuardrailGate(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

enum class MessageChannel { Text, Reasoning };

// What became of the arguments of a call.
struct GatedCall {
  std::optional<std::string> arguments{};  // as they came, or redacted; nothing: refused
  std::string reason{};                    // of a refusal, for the model
  std::vector<GuardrailHit> hits{};
};

// One message of a model: text, reasoning and the arguments of each tool call are channels of their
// own (GR-54). A block on text or reasoning ends the message: calls that have not started never do
// (GR-55). Owned by one caller at a time; the engine must outlive it.
class MessageGate {
 public:
  MessageGate(const MessageGate&) = delete;
  ~MessageGate();

  // As those of `GuardrailGate`.
  Result<GateOutput> push(MessageChannel channel, std::string_view delta);
  Result<GateOutput> finish(MessageChannel channel);

  // `Conflict`: there is such a call already; `Exhausted`: more than 1,024.
  Result<void> open_call(const std::string& id, std::string_view tool);
  // What may leave now: all of it where no check looks at this tool's arguments, else nothing
  // before they are complete. `Exhausted`: over 16 MiB, and the call is refused.
  Result<std::string> push_arguments(const std::string& id, std::string_view delta);
  // Decides the call. `InvalidInput`, where a check looks: the arguments are no JSON, and the call
  // is refused.
  Result<GatedCall> close_call(const std::string& id);
  // May it run? Then it has started, and nothing later in this message stops it.
  Result<bool> start_call(const std::string& id);

 private:
  friend class Engine;
  struct Body;
  explicit MessageGate(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace sallyport
