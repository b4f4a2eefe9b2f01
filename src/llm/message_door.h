// What a message of a model has to pass on its way to the client. Adapters (answer_adapter.h) know
// the wire; a door knows the policy. A message is an Anthropic message, one choice of a chat
// completion, or one response of Responses.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async.h"
#include "core/plan/stream_guard.h"
#include "sallyport/json.h"

namespace sallyport::llm {

// The kinds of channels of section 5 of the specification. `Whole` are texts that arrive complete,
// and leaves of what the adapter does not know.
enum class ChannelKind : std::uint8_t {
  Text,
  Reasoning,
  Refusal,
  ProviderCall,
  ProviderResult,
  Whole,
};
std::string_view to_string(ChannelKind kind);

// One text inside a message, with offsets and hold-back of its own (MP-40).
struct ChannelId {
  ChannelKind kind = ChannelKind::Text;
  std::uint64_t item = 0;  // block index, output index
  std::uint64_t part = 0;  // content index, summary index
  std::string tool{};      // of a ProviderResult: the tool's name

  auto operator<=>(const ChannelId&) const = default;
};

// A tool call that the client would execute, with its arguments complete.
struct ProposedCall {
  std::string type{};  // of its block or item: `tool_use`, `function_call`, `shell_call`, ...
  std::string id{};    // the model's
  std::string name{};  // of the tool
  // Parsed; of a custom tool `{"input": text}` (MP-55).
  json::value input{};
  // The bytes that came, where a double cannot hold one of their numbers.
  std::optional<std::string> raw_input{};
};

struct CallRuling {
  enum class Kind : std::uint8_t { Pass, Rewrite, Refuse };
  Kind kind = Kind::Pass;
  json::value input{};   // of a rewrite
  std::string notice{};  // of a refusal: the text that takes its place
};

// One for each message. On the loop of its request.
class MessageDoor {
 public:
  virtual ~MessageDoor() = default;

  // Text that goes on. A channel begins with its first push. After a block of any channel the
  // message is over, and nothing more is let out (GR-55).
  virtual core::PassedText push(const ChannelId& channel, std::string_view delta) = 0;
  virtual core::PassedText finish(const ChannelId& channel) = 0;
  // A text that is complete.
  virtual core::PassedText whole(const ChannelId& channel, std::string_view text) = 0;
  // The readable text of a signed block. It leaves whole or not at all, so a block in it is a hit
  // like any other: it does not end the message, the adapter decides what follows (MP-49).
  virtual core::PassedText signed_block(const ChannelId& channel, std::string_view text) = 0;

  // A check of stage `output` is armed that may change or end a message: signed blocks are held
  // (MP-48) and log probabilities left out (MP-51).
  virtual bool enforces_output() const = 0;

  // False: calls pass at once as they come, and `decide` only records them (`observe`).
  virtual bool holds_calls() const = 0;
  // Decides about a call. May wait for a person, at most `hold_s`.
  virtual Async<CallRuling> decide(ProposedCall call) = 0;
  // A call that is never handed out: no JSON, cut by a limit, or its message ended first (MP-59,
  // MP-63). Gives the notice that takes its place.
  virtual std::string drop(const std::string& id, const std::string& name, std::string why) = 0;

  // For the record: a type that the adapter does not know (MP-44); something was left out that no
  // check found, such as `logprobs` (MP-51); a change that is no text, such as a dropped block.
  virtual void note_unknown(std::string type) = 0;
  // A part of the answer that no check can read, such as audio: where in the whole object, and what
  // (MP-54). Once for each.
  virtual void note_unread(std::string path, std::string kind) = 0;
  virtual void note_degraded(std::string what) = 0;
  virtual void note_change() = 0;
};

// Makes a door for each message; `index` is that of the choice, else 0.
class MessageDoors {
 public:
  virtual ~MessageDoors() = default;
  virtual std::unique_ptr<MessageDoor> open(std::uint64_t index) = 0;
};

}  // namespace sallyport::llm
