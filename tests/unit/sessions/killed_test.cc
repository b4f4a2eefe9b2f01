#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "store_on_disk.h"

namespace sallyport::sessions {
namespace {

class Killed : public StoreOnDisk {
 protected:
  // Writes until it is killed: a pair of items a commit, and a byte to the parent after each.
  [[noreturn]] void write_until_killed(int told) {
    SystemClock clock;
    const auto store = SessionStore::open({.file = file()}, clock);
    if (!store) ::_exit(1);
    const auto lease = (*store)->take_lease("s-1", "writer", "child", 3600s, {});
    if (!lease) ::_exit(2);
    for (int i = 0;; ++i) {
      const std::string text = std::to_string(i);
      const std::vector pair{text_item(text, Role::Assistant), text_item(text, Role::Tool)};
      const std::string id = "t-" + text;
      if (!(*store)->append(*lease, pair)) ::_exit(3);
      BackgroundTask ended{.id = id, .status = TaskStatus::Finished};
      if (!(*store)->begin_task(*lease, task(id), 8) || !(*store)->end_task(ended)) ::_exit(4);
      if (!(*store)->append(*lease, std::vector{text_item(id)}, std::vector{id})) ::_exit(5);
      if (::write(told, "x", 1) != 1) ::_exit(6);
    }
  }
};

// RT-51, RT-84
TEST_F(Killed, AProcessKilledInItsMiddleLosesNothingThatWasCommitted) {
  store_.reset();
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::filesystem::remove(file());
    std::filesystem::remove(file().string() + "-wal");
    std::filesystem::remove(file().string() + "-shm");
    int channel[2];
    ASSERT_EQ(::pipe(channel), 0);
    const pid_t child = ::fork();
    if (child == 0) write_until_killed(channel[1]);
    ASSERT_GT(child, 0);
    ::close(channel[1]);
    std::size_t committed = 0;
    char byte = 0;
    while (committed < 3u + static_cast<std::size_t>(attempt) &&
           ::read(channel[0], &byte, 1) == 1) {
      ++committed;
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    while (::read(channel[0], &byte, 1) == 1) ++committed;
    ::close(channel[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;

    store_ = open();
    const std::vector<Item> items = *store_->items("s-1");
    ASSERT_GE(items.size(), 3 * committed);
    EXPECT_EQ((*store_->session("s-1"))->revision, items.size());
    // No commit is partial: a call has its result, and a notice is delivered or not.
    const std::size_t rest = items.size() - items.size() / 3 * 3;
    EXPECT_TRUE(rest == 0 || rest == 2) << items.size();
    const std::size_t untold = store_->unnoticed_tasks("s-1")->size();
    const std::size_t running = test::running_tasks(*store_, "writer");
    EXPECT_LE(untold + running, rest == 0 ? 0u : 1u);
    // The next process takes over once the lease has expired, or the holder is known to be dead.
    SystemClock now;
    const auto next = SessionStore::open({.file = file()}, now);
    const auto dead = [](const std::string& instance) { return instance == "child"; };
    EXPECT_EQ(cause_of((*next)->take_lease("s-1", "writer", "i-2", 30s, {})), "lease_unavailable");
    EXPECT_EQ((*next)->left_behind(dead)->tasks.size(), running);
    const auto lease = (*next)->take_lease("s-1", "writer", "i-2", 30s, dead);
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease->epoch, 2u);
    EXPECT_TRUE((*next)->append(*lease, std::vector{text_item("on it goes")}));
    store_.reset();
  }
}

// RT-79: of processes that begin at the same moment on a new file, one gets the session.
TEST_F(Killed, OfManyProcessesOneTakesTheLease) {
  store_.reset();
  std::filesystem::remove(file());
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      SystemClock clock;
      const auto store = SessionStore::open({.file = file()}, clock);
      if (!store) ::_exit(9);
      const auto lease = (*store)->take_lease("s-1", "writer", "i-" + std::to_string(i), 3600s, {});
      ::_exit(lease ? 1 : lease.error().cause == "lease_unavailable" ? 0 : 8);
    }
    children.push_back(child);
  }
  int holders = 0;
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_LE(WEXITSTATUS(status), 1);
    holders += WEXITSTATUS(status);
  }
  EXPECT_EQ(holders, 1);
}

}  // namespace
}  // namespace sallyport::sessions
