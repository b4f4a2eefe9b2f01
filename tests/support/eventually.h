// Waits for events of other threads and processes.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace sallyport::test {

// Returns false if the condition did not become true within half a minute.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace sallyport::test
