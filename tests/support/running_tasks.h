// Counts the background tasks that run, in all processes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "sessions/session_store.h"

namespace sallyport::test {

// Those of one agent. The store lists the running tasks of dead processes; here all count as dead.
inline std::size_t running_tasks(sessions::SessionStore& store, const std::string& agent_id) {
  const auto left = store.left_behind([](const std::string&) { return true; });
  return static_cast<std::size_t>(
      std::ranges::count(left.value().tasks, agent_id, &sessions::BackgroundTask::agent_id));
}

}  // namespace sallyport::test
