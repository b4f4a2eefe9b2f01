#include "workspace/ledger_bell.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace sallyport::app {

LedgerBell::LedgerBell(const std::filesystem::path& data_dir)
    : descriptor_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  // The folder, since the file that commits are written to comes and goes.
  if (descriptor_ >= 0) inotify_add_watch(descriptor_, data_dir.c_str(), IN_MODIFY | IN_CREATE);
}

LedgerBell::~LedgerBell() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool LedgerBell::wait(int also, std::chrono::milliseconds longest) {
  std::array<pollfd, 2> watched = {pollfd{descriptor_, POLLIN, 0}, pollfd{also, POLLIN, 0}};
  if (poll(watched.data(), watched.size(), static_cast<int>(longest.count())) <= 0) return false;
  if ((watched[0].revents & POLLIN) != 0) {
    // The bytes are there a moment before readers see the commit; many writes are one ring.
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    std::array<char, 4096> events{};
    while (read(descriptor_, events.data(), events.size()) > 0) {
    }
  }
  return watched[1].revents != 0;
}

}  // namespace sallyport::app
