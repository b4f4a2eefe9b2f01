// What a hook and a daemon say to each other, on a socket in the data folder. One frame each way; a
// frame is a line of JSON, then bytes as they are (docs/formats.md).
#pragma once

#include <string>
#include <string_view>

#include "app/hook_desk.h"

namespace sallyport::app {

inline constexpr const char* kHookSocket = "hook.sock";
inline constexpr std::string_view kHookGreeting = "sallyport-hook/1";
inline constexpr std::size_t kLargestHookQuestion = hook::kLargestEvent + (64u << 10);
inline constexpr std::size_t kLargestHookAnswer = 64u << 20;

// As on the command line of `sallyport hook`; nothing else is believed.
struct HookMessage {
  std::string agent{};
  std::string policy{};  // a shipped one by its name, or the full path of a file
  bool interactive = true;
  std::string event{};  // as the host wrote it

  bool operator==(const HookMessage&) const = default;
};

std::string to_frame(const HookMessage& message);
std::string to_frame(const HookAnswer& answer);

// `InvalidInput`: whoever wrote it does not speak as we do.
Result<HookMessage> hook_message_in(std::string_view frame);
Result<HookAnswer> hook_answer_in(std::string_view frame);

}  // namespace sallyport::app
