#include <gtest/gtest.h>

#include <thread>

#include "store_on_disk.h"

namespace sallyport::sessions {
namespace {

class ConcurrentSessions : public StoreOnDisk {};

// RT-7, RT-51: four threads over two stores of one file, a session each, and searches beside them.
TEST_F(ConcurrentSessions, TwoStoresOfOneFileKeepEverySessionInOrder) {
  const auto second = open();
  ASSERT_TRUE(store_->pin({.id = "pin:1", .agent_id = "writer", .text = "shared words"}));
  constexpr int kAppends = 25;
  const auto work = [](SessionStore& store, const std::string& session) {
    const Lease held = *store.take_lease(session, "writer", "i-" + session, 30s, {});
    for (std::uint64_t i = 1; i <= kAppends; ++i) {
      EXPECT_EQ(*store.append(held, std::vector{text_item(session)}), i);
      EXPECT_EQ(store.items(session)->size(), i);
      EXPECT_EQ(store.search("writer", "shared", 3, 10s, {})->size(), 1u);
      EXPECT_EQ(*store.requested(session), Request::None);
    }
  };
  {
    const std::jthread a([&] { work(*store_, "a"); });
    const std::jthread b([&] { work(*store_, "b"); });
    const std::jthread c([&] { work(*second, "c"); });
    const std::jthread d([&] { work(*second, "d"); });
  }
  for (const char* session : {"a", "b", "c", "d"}) {
    EXPECT_EQ(lines(session).size(), static_cast<std::size_t>(kAppends));
  }
}

// RT-58, RT-74: cancels that come at any moment of a search leave its connection good.
TEST_F(ConcurrentSessions, SearchesAreCancelledAtAnyMoment) {
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(store_->pin(
        {.id = "pin:" + std::to_string(i), .agent_id = "writer", .text = "words of all kinds"}));
  }
  for (int i = 0; i < 40; ++i) {
    std::stop_source stop;
    const std::jthread canceller([&stop, i] {
      std::this_thread::sleep_for(std::chrono::microseconds(25 * i));
      stop.request_stop();
    });
    const auto found = store_->search("writer", "words kinds", 5, 10s, stop.get_token());
    ASSERT_TRUE(found || found.error().code == ErrorCode::Cancelled)
        << (found ? "" : found.error().message);
    const auto next = store_->search("writer", "words", 5, 10s, {});
    ASSERT_TRUE(next) << (next ? "" : next.error().message);
    ASSERT_EQ(next->size(), 5u);
  }
}

}  // namespace
}  // namespace sallyport::sessions
