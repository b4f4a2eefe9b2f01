// The messages between a hook and a daemon, on a socket in the data folder or on the public one of
// the system set-up. One frame each way; a frame is a line of JSON, then raw bytes
// (docs/formats.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hook/dialect.h"
#include "sallyport/result.h"

namespace sallyport::app {

inline constexpr const char* kHookSocket = "hook.sock";
inline constexpr std::string_view kHookGreeting = "sallyport-hook/1";
inline constexpr std::size_t kLargestHookQuestion = hook::kLargestEvent + (64u << 10);
inline constexpr std::size_t kLargestHookAnswer = 64u << 20;

// The arguments of `sallyport hook`. The daemon trusts nothing else from the client.
struct HookMessage {
  std::string agent{};
  std::string policy{};  // a shipped one by its name, the full path of a file, or none named
  bool interactive = true;
  std::vector<std::string> workspace{};  // folders of the project, as the environment names them
  std::string event{};                   // as the host wrote it

  bool operator==(const HookMessage&) const = default;
};

// A command that a client refused to its user, reported to the service of this machine.
struct RefusedCommand {
  std::string command{};  // as `approvals approve`, without arguments
};

struct HookAnswer {
  std::string output{};  // for the host; empty: silence
  std::string notice{};  // for people, one line; empty: none
};

std::string to_frame(const HookMessage& message);
std::string to_frame(const RefusedCommand& refused);
std::string to_frame(const HookAnswer& answer);

// `InvalidInput`: the peer speaks another protocol.
Result<HookMessage> hook_message_in(std::string_view frame);
Result<HookAnswer> hook_answer_in(std::string_view frame);
// No value: the frame is about something else.
std::optional<RefusedCommand> refused_command_in(std::string_view frame);

}  // namespace sallyport::app
