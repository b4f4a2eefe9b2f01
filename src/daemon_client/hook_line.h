// Asks a running daemon about the event of a hook.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "daemon_client/hook_wire.h"

namespace sallyport::app {

struct HookPatience {
  std::chrono::milliseconds greeting{500};
  std::chrono::milliseconds question{2000};
  std::chrono::milliseconds answer{5000};
};

// No value: no healthy daemon runs and none was asked, so the hook decides alone. An error: the
// daemon was asked and gave no answer. It may have recorded the call, so the hook must not judge
// it.
Result<std::optional<HookAnswer>> ask_hook_door(const std::filesystem::path& data_dir,
                                                const HookMessage& message,
                                                const HookPatience& patience = {});

}  // namespace sallyport::app
