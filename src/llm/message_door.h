// A message of a model passes a door on its way to the client. Adapters (answer_adapter.h) know the
// wire; a door knows the policy. A message is an Anthropic message, one choice of a chat
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

// The kinds of channels of a message (MP-40). `Whole`: texts that arrive complete, and strings in
// values that the adapter does not know.
enum class ChannelKind : std::uint8_t {
  Text,
  Reasoning,
  Refusal,
  ProviderCall,
  ProviderResult,
  Whole,
};
std::string_view to_string(ChannelKind kind);

// One text inside a message. It has its own offsets and hold-back (MP-40).
struct ChannelId {
  ChannelKind kind = ChannelKind::Text;
  std::uint64_t item = 0;  // block index, output index
  std::uint64_t part = 0;  // content index, summary index
  std::string tool{};      // tool name of a ProviderResult

  auto operator<=>(const ChannelId&) const = default;
};

// A tool call that the client would execute, with complete arguments.
struct ProposedCall {
  std::string type{};  // of its block or item: `tool_use`, `function_call`, `shell_call`, ...
  std::string id{};    // the model's
  std::string name{};  // of the tool
  // The parsed arguments; for a custom tool `{"input": text}` (MP-55).
  json::value input{};
  // The received bytes, set if a double cannot hold one of their numbers.
  std::optional<std::string> raw_input{};
};

struct CallRuling {
  enum class Kind : std::uint8_t { Pass, Rewrite, Refuse };
  Kind kind = Kind::Pass;
  json::value input{};   // the new input of a rewrite
  std::string notice{};  // the text that replaces a refused call
};

// Each message has one. It is used on the loop of its request.
class MessageDoor {
 public:
  virtual ~MessageDoor() = default;

  // Checks the next text of a channel. A channel begins with its first push. After a block on any
  // channel the message is over and nothing more is released (GR-55).
  virtual core::PassedText push(const ChannelId& channel, std::string_view delta) = 0;
  virtual core::PassedText finish(const ChannelId& channel) = 0;
  // Checks a complete text.
  virtual core::PassedText whole(const ChannelId& channel, std::string_view text) = 0;
  // Checks the readable text of a signed block, which leaves whole or not at all. A block in it
  // does not end the message; the adapter decides what follows (MP-49).
  virtual core::PassedText signed_block(const ChannelId& channel, std::string_view text) = 0;

  // True if a check of stage `output` may change or end the message. Then signed blocks are held
  // (MP-48) and log probabilities are left out (MP-51).
  virtual bool enforces_output() const = 0;

  // False: calls pass at once, and `decide` only records them (`observe`).
  virtual bool holds_calls() const = 0;
  // Decides about a call. May wait for a person, at most `hold_s`.
  virtual Async<CallRuling> decide(ProposedCall call) = 0;
  // Drops a call that is never handed out: not JSON, cut by a limit, or its message ended first
  // (MP-59, MP-63). Returns the notice that takes its place.
  virtual std::string drop(const std::string& id, const std::string& name, std::string why) = 0;

  // These add to the record. `type` is a type that the adapter does not know (MP-44).
  virtual void note_unknown(std::string type) = 0;
  // A part of the answer that no check can read, such as audio: its path in the object and its kind
  // (MP-54). Call it once for each part.
  virtual void note_unread(std::string path, std::string kind) = 0;
  virtual void note_degraded(std::string part) = 0;  // left out unchecked: `logprobs` (MP-51)
  virtual void note_change() = 0;  // a change that is not in a text, such as a dropped block
};

// Makes a door for each message. `index` is the index of the choice, else 0.
class MessageDoors {
 public:
  virtual ~MessageDoors() = default;
  virtual std::unique_ptr<MessageDoor> open(std::uint64_t index) = 0;
};

}  // namespace sallyport::llm
