// The way from a hook to a daemon that is already warm.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "app/hooks/hook_wire.h"

namespace sallyport::app {

struct HookPatience {
  std::chrono::milliseconds greeting{500};
  std::chrono::milliseconds question{2000};
  std::chrono::milliseconds answer{5000};
};

// Nothing: no daemon of ours is there or well, and it was asked nothing; whoever asks decides
// alone. An error: it was asked and gave no answer. It may have recorded the call, so nobody else
// judges it.
Result<std::optional<HookAnswer>> ask_daemon(const std::filesystem::path& data_dir,
                                             const HookMessage& message,
                                             const HookPatience& patience = {});

}  // namespace sallyport::app
