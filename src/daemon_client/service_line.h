// Connects a client command to the service of this machine. The client trusts only a listener under
// the service's uid, and the service knows the client by the uid that the kernel names
// (SO_PEERCRED).
#pragma once

#include <string>

#include "daemon_client/hook_line.h"
#include "machine/system_setup.h"

namespace sallyport::app {

inline constexpr const char* kRelaySocket = "mcp.sock";
inline constexpr std::string_view kRelayGreeting = "sallyport-mcp/1";
inline constexpr std::size_t kLargestRelayQuestion = 4096;

// Longer than for a daemon of the same user, because the hook does not judge in its place. It fits
// into the time of a hook.
inline constexpr HookPatience kServicePatience{.greeting = std::chrono::milliseconds(1500),
                                               .question = std::chrono::milliseconds(1500),
                                               .answer = std::chrono::milliseconds(4500)};

// An error: the service does not run, another user listens in its place, or it gave no answer. The
// caller must refuse then.
Result<HookAnswer> ask_service(const SystemSetup& setup, const HookMessage& message,
                               const HookPatience& patience = kServicePatience);

// Reports that `sallyport COMMAND` was refused to this user. When this returns, the ledger of the
// service has it.
Result<void> record_refused(const SystemSetup& setup, const std::string& command);

// A descriptor over which the service speaks MCP for the tool server of this name; empty: for all.
Result<int> open_relay(const SystemSetup& setup, const std::string& server);

}  // namespace sallyport::app
