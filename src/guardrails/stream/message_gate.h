// Checks one message of a model. Its text, its reasoning and the arguments of each tool call are
// channels with their own offsets, hold-back and hits (GR-54). A block on text or reasoning ends
// the message: no channel releases more, and calls that have not started never start (GR-55). Each
// message needs a new gate. One caller at a time owns it.
//
//   MessageGate gate(guardrails);
//   send(gate.push(Channel::Text, "I will look."));
//   gate.open_call("call_1", "read_file");
//   gate.push_arguments("call_1", R"({"path":"/etc/)");  // kept: arguments are no text
//   gate.push_arguments("call_1", R"(hosts"})");
//   CallDecision decided = *gate.close_call("call_1");
//   if (*gate.start_call("call_1")) run(*decided.arguments);
//   send(gate.finish(Channel::Text));
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/stream/gate.h"

namespace sallyport::guardrails {

enum class Channel : std::uint8_t { Text, Reasoning };
std::string_view to_string(Channel channel);

// The decision about a call. `arguments`: unchanged or redacted; no value: the call is refused.
struct CallDecision {
  Evaluation seen{};
  std::optional<std::string> arguments{};
};

struct MessageCall {
  enum class State : std::uint8_t {
    Open,     // arguments are still coming
    Ready,    // may start
    Refused,  // by the checks, or because its arguments could not be decided
    Started,
    Dropped,  // the message was blocked before it started
  };

  std::string id{};
  std::string tool{};
  State state = State::Open;
};
std::string_view to_string(MessageCall::State state);

class MessageGate {
 public:
  static constexpr std::size_t kMostCalls = 1024;
  static constexpr std::size_t kMostArgumentBytes = std::size_t{16} << 20;  // held at once

  explicit MessageGate(std::shared_ptr<const Guardrails> guardrails);
  ~MessageGate();

  // As in `TextGate`. They return nothing after the message is blocked.
  Result<Passed> push(Channel channel, std::string_view delta);
  Result<Passed> finish(Channel channel);

  // `Conflict`: a call with this id exists. `Exhausted`: there are too many calls.
  Result<void> open_call(const std::string& id, std::string_view tool);
  // Returns what may leave now: everything if no check reads the arguments of this tool, else
  // nothing until they are complete. `Exhausted`: the call is refused.
  Result<std::string> push_arguments(const std::string& id, std::string_view delta);
  // Checks the call as `tool_use`. `InvalidInput`: a check applies and the arguments are not JSON;
  // the call is refused. `arguments` is what has not left yet.
  Result<CallDecision> close_call(const std::string& id);
  // True: the call may run and has started; nothing later in this message stops it.
  Result<bool> start_call(const std::string& id);

  // The channel whose text ended the message.
  std::optional<Channel> blocked_on() const { return blocked_on_; }
  // In the order in which they were opened. Dropped calls are recorded.
  const std::vector<MessageCall>& calls() const { return calls_; }
  bool armed() const;
  // Statistics of a channel. They are empty before the first push.
  std::uint64_t bytes_in(Channel channel) const;
  std::uint64_t held(Channel channel) const;
  std::uint64_t invalid_utf8(Channel channel) const;
  std::vector<Coverage> coverage(Channel channel) const;

  // The cost of the message so far. A block does not reduce it.
  void count_tokens(std::uint64_t tokens) { tokens_ += tokens; }
  std::uint64_t tokens() const { return tokens_; }

 private:
  struct Arguments {
    bool kept = false;  // a check reads them
    std::string text{};
  };

  TextGate& gate(Channel channel);
  const TextGate* find(Channel channel) const;
  Result<Passed> end_if_blocked(Channel channel, Result<Passed> passed);
  Result<std::size_t> known(const std::string& id) const;
  Result<CallDecision> decide(std::size_t call);

  std::shared_ptr<const Guardrails> guardrails_;
  std::array<std::unique_ptr<TextGate>, 2> gates_{};  // made with their first delta
  std::vector<MessageCall> calls_;
  std::vector<Arguments> arguments_;  // of each call
  std::map<std::string, std::size_t, std::less<>> places_;
  std::optional<Channel> blocked_on_;
  std::size_t argument_bytes_ = 0;
  std::uint64_t tokens_ = 0;
};

}  // namespace sallyport::guardrails
