// The connections on which a gateway reads: their number, and their round trips.
#include "store/postgresql/reader_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "store/postgresql/postgresql_store.h"
#include "store/postgresql/view.h"
#include "support/ledger_checks.h"
#include "support/private_postgresql.h"

namespace sallyport::store {
namespace {

using postgresql::Link;
using postgresql::ReaderPool;
using test::PrivatePostgresql;
using namespace std::chrono_literals;

class ReaderPoolTest : public testing::Test {
 protected:
  void SetUp() override {
    if (PrivatePostgresql::instance() == nullptr) GTEST_SKIP() << "postgresql is not installed";
    url_ = PrivatePostgresql::instance()->new_database();
    Result<std::unique_ptr<PostgresqlStore>> store = PostgresqlStore::open({.log = {.url = url_}});
    ASSERT_TRUE(store) << store.error().message;
    store_ = std::move(*store);
  }

  std::uint64_t connections() {
    return std::stoull(PrivatePostgresql::sql(
        url_, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sallyport'"));
  }

  std::string url_;
  std::unique_ptr<PostgresqlStore> store_;
};

TEST_F(ReaderPoolTest, SizeAndNamedFactsTakeOneRoundTrip) {
  PrivatePostgresql::sql(url_,
                         "INSERT INTO sallyport.facts (log, space, key, value) SELECT log, "
                         "'space', 'known', 'value' FROM sallyport.logs");
  ReaderPool pool({.url = url_});
  const auto reader = pool.take();
  ASSERT_TRUE(reader);
  const auto log = (*reader)->ask("SELECT log::int8 FROM sallyport.logs");
  ASSERT_TRUE(log);
  const std::uint64_t before = (*reader)->round_trips();
  postgresql::View view(**reader, static_cast<std::uint64_t>(log->number(0, 0)), nullptr);
  ASSERT_TRUE(view.begin_reading({{"space", "known"}, {"space", "unknown"}}));
  EXPECT_EQ(*view.size(), 0u);
  EXPECT_EQ(**view.fact("space", "known"), "value");
  EXPECT_EQ(*view.fact("space", "unknown"), std::nullopt);
  EXPECT_EQ((*reader)->round_trips() - before, 1u);
  EXPECT_EQ(**view.fact("space", "known"), "value");
}

TEST_F(ReaderPoolTest, MoreReadersThanConnectionsTakeTurns) {
  constexpr int kReaders = 40;
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  int most = 0;
  std::atomic<int> good = 0;
  std::uint64_t open = 0;
  std::vector<std::thread> readers;
  for (int n = 0; n < kReaders; ++n) {
    readers.emplace_back([&] {
      const Result<void> done = store_->read([&](ledger::ReadView& view) -> Result<void> {
        const Result<std::uint64_t> size = view.size();
        if (!size) return std::unexpected(size.error());
        std::unique_lock lock(mutex);
        most = std::max(most, ++inside);
        changed.notify_all();
        // The first ones stay until the pool is used up.
        const bool full = changed.wait_for(
            lock, 60s, [&] { return most == static_cast<int>(ReaderPool::kMost); });
        if (full && open == 0) open = connections();
        --inside;
        return {};
      });
      good += done ? 1 : 0;
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(good, kReaders);
  EXPECT_EQ(most, static_cast<int>(ReaderPool::kMost));
  EXPECT_EQ(open, ReaderPool::kMost + 1) << "the readers, and the writer";
}

TEST_F(ReaderPoolTest, AReaderThatWaitsTooLongIsToldSo) {
  ReaderPool pool({.url = url_, .patience = 200ms});
  std::vector<ReaderPool::Reader> taken;
  for (std::size_t n = 0; n < ReaderPool::kMost; ++n) {
    Result<ReaderPool::Reader> reader = pool.take();
    ASSERT_TRUE(reader) << reader.error().message;
    taken.push_back(std::move(*reader));
  }
  const auto refused = pool.take();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, "busy");
  taken.pop_back();
  EXPECT_TRUE(pool.take());
}

TEST_F(ReaderPoolTest, AServerThatTakesNoConnectionMoreIsReadOnThoseThereAre) {
  PrivatePostgresql::sql(url_, "DROP ROLE IF EXISTS few; CREATE ROLE few LOGIN CONNECTION LIMIT 2");
  ReaderPool pool({.url = PrivatePostgresql::as_role(url_, "few")});
  auto first = pool.take();
  ASSERT_TRUE(first) << first.error().message;
  auto second = pool.take();
  ASSERT_TRUE(second) << second.error().message;
  std::thread returns([&] {
    std::this_thread::sleep_for(50ms);
    first->reset();
  });
  EXPECT_TRUE(pool.take()) << "it waits for one that is lent";
  returns.join();
  second->reset();
  EXPECT_TRUE(pool.take());
}

TEST_F(ReaderPoolTest, AfterAFailureReadsFailAtOnceAndThenTryAgain) {
  ReaderPool pool({.url = url_});
  pool.note_failure(ledger::ledger_unavailable("io", "it is gone").error());
  const auto at_once = pool.take();
  ASSERT_FALSE(at_once);
  EXPECT_NE(at_once.error().message.find("it is gone"), std::string::npos);
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!pool.take() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(pool.take());
}

TEST_F(ReaderPoolTest, AConnectionThatBrokeIsNotLentAgain) {
  ReaderPool pool({.url = url_});
  auto reader = pool.take();
  ASSERT_TRUE(reader);
  const int first = (*reader)->backend();
  PrivatePostgresql::sql(url_, "SELECT pg_terminate_backend(" + std::to_string(first) + ", 10000)");
  reader->reset();
  reader = pool.take();
  ASSERT_TRUE(reader);
  EXPECT_NE((*reader)->backend(), first);
  EXPECT_TRUE((*reader)->ask("SELECT 1"));
}

TEST_F(ReaderPoolTest, TheAnswerToWhatWasSentBeforeIsDropped) {
  const auto link = Link::open({.url = url_});
  ASSERT_TRUE(link);
  (*link)->put("SELECT 1::int8");
  ASSERT_TRUE((*link)->send());
  const auto answer = (*link)->ask("SELECT 2::int8");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->number(0, 0), 2);
  (*link)->put("SELECT 3::int8");
  ASSERT_TRUE((*link)->send());
  (*link)->put("SELECT 4::int8");
  ASSERT_TRUE((*link)->send());
  EXPECT_EQ((*link)->ask("SELECT 5::int8")->number(0, 0), 5);
}

TEST_F(ReaderPoolTest, AnErrorInWhatWasSentBeforeBreaksTheConnection) {
  const auto link = Link::open({.url = url_});
  ASSERT_TRUE(link);
  (*link)->put("SELECT 1 / 0");
  ASSERT_TRUE((*link)->send());
  EXPECT_FALSE((*link)->ask("SELECT 2::int8"));
  EXPECT_TRUE((*link)->broken());
}

}  // namespace
}  // namespace sallyport::store
