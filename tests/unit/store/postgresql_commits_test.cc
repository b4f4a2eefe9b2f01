// The size of a gateway's commits, the turns of several gateways, and the effect of a wrong clock.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <numeric>
#include <thread>

#include "store/postgresql/postgresql_store.h"
#include "support/ledger_checks.h"
#include "support/private_postgresql.h"

namespace sallyport::store {
namespace {

using test::PrivatePostgresql;
using test::TempFolder;
using test::TestLedger;
using namespace std::chrono_literals;

// The clock of a machine, wrong by the amount that the test sets.
class SkewedClock final : public Clock {
 public:
  explicit SkewedClock(std::chrono::milliseconds by = {}) : offset_(by) {}
  WallTime wall() const override {
    return machine_.wall() + offset_ + std::chrono::seconds(skew.load());
  }
  SteadyTime steady() const override { return machine_.steady(); }
  std::atomic<int> skew = 0;

 private:
  std::chrono::milliseconds offset_;
  SystemClock machine_;
};

class PostgresqlCommitsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (PrivatePostgresql::instance() == nullptr) GTEST_SKIP() << "postgresql is not installed";
    url_ = PrivatePostgresql::instance()->new_database();
  }

  struct Gateway {
    std::unique_ptr<PostgresqlStore> store;
    std::unique_ptr<ledger::Ledger> ledger;
  };

  // The first gateway makes the keys, and the others copy them.
  Gateway gateway(const Clock* clock = nullptr) { return gateway(clock, clock_); }
  Gateway gateway(const Clock* clock, const Clock& of_ledger) {
    const std::filesystem::path data = folder_ / std::to_string(++gateways_);
    if (gateways_ > 1) {
      std::filesystem::create_directories(data);
      std::filesystem::copy(folder_ / "1" / "keys", data / "keys",
                            std::filesystem::copy_options::recursive);
      std::filesystem::permissions(data, std::filesystem::perms::owner_all);
    }
    auto store = PostgresqlStore::open(
        {.log = {.url = url_, .lock_wait = 20s, .lease = 2s}, .clock = clock});
    EXPECT_TRUE(store) << store.error().message;
    auto ledger =
        ledger::Ledger::open({**store, redactor_, of_ledger, entropy_,
                              [](const json::object&) { return std::vector<core::Draft>{}; }},
                             {.data_folder = data});
    EXPECT_TRUE(ledger) << ledger.error().message;
    return {std::move(*store), std::move(*ledger)};
  }

  std::uint64_t number(const std::string& statement) {
    return std::stoull(PrivatePostgresql::sql(url_, statement));
  }

  // Everything is queued while another writer has the lock.
  void append_at_once(Gateway& gateway, std::size_t count, const std::string& text) {
    std::promise<void> locked;
    std::promise<void> queued;
    std::thread other([&] {
      const auto store = PostgresqlStore::open({.log = {.url = url_, .hold = 60s}});
      ASSERT_TRUE(store);
      (void)(*store)->write([&](ledger::WriteView&) -> Result<void> {
        locked.set_value();
        queued.get_future().wait();
        return {};
      });
    });
    locked.get_future().wait();
    boost::asio::io_context loop;
    std::size_t written = 0;
    for (std::size_t n = 0; n < count; ++n) {
      std::vector<core::Draft> drafts{TestLedger::event({{"n", n}, {"what", text}})};
      boost::asio::co_spawn(
          loop, gateway.ledger->append(std::move(drafts), core::Urgency::Reports, {}),
          [&](const std::exception_ptr& thrown, Result<std::vector<core::Position>> positions) {
            written += !thrown && positions;
          });
    }
    // Each is queued when it first waits.
    loop.poll();
    queued.set_value();
    loop.run();
    other.join();
    EXPECT_EQ(written, count);
  }

  TempFolder folder_;
  std::string url_;
  core::NoRedactor redactor_;
  SystemClock clock_;
  SystemEntropy entropy_;
  int gateways_ = 0;
};

// SC-24
TEST_F(PostgresqlCommitsTest, ACommitTakesWhatWaitsUpToABoundOfEntriesAndBytes) {
  Gateway one = gateway();
  const std::uint64_t before = number("SELECT count(*) FROM sallyport.commits");
  append_at_once(one, 5000, "x");
  EXPECT_EQ(number("SELECT max(size - previous) FROM sallyport.commits"), 2048u);
  // One that was taken alone, then two full ones, then the rest.
  EXPECT_LE(number("SELECT count(*) FROM sallyport.commits") - before, 5u);
  const std::uint64_t size = number("SELECT max(size) FROM sallyport.commits");
  append_at_once(one, 300, std::string(40'000, 'y'));
  const std::string of_a_commit =
      "(SELECT sum(length(e.bytes) + coalesce(length(e.openings), 0)) AS bytes FROM "
      "sallyport.commits c JOIN "
      "sallyport.entries e ON e.sequence >= c.previous AND e.sequence < c.size WHERE c.previous "
      ">= " +
      std::to_string(size) + " GROUP BY c.previous) AS each";
  EXPECT_LE(number("SELECT max(bytes)::int8 FROM " + of_a_commit), 6u << 20);
  EXPECT_GE(number("SELECT count(*) FROM " + of_a_commit), 3u);
  EXPECT_EQ(test::verdict(*one.store), "ok");
}

// SC-14
TEST_F(PostgresqlCommitsTest, WritersAreServedInTheOrderOfTheirRequests) {
  std::vector<Gateway> gateways;
  for (int i = 0; i < 4; ++i) gateways.push_back(gateway());
  double least = 0;
  // Other work on the machine may keep one of them from asking; the order itself is always kept.
  for (int attempt = 0; attempt < 5 && least < 0.8; ++attempt) {
    std::vector<std::atomic<int>> counts(4);
    std::atomic<int> all = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        while (all < 400) {
          const auto done = gateways[i].ledger->append_blocking({TestLedger::event({{"n", i}})},
                                                                core::Urgency::Reports);
          ASSERT_TRUE(done) << done.error().message;
          ++counts[i];
          ++all;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const double mean = static_cast<double>(all) / 4;
    least = static_cast<double>(*std::ranges::min_element(counts)) / mean;
  }
  EXPECT_GE(least, 0.8);
  EXPECT_EQ(test::verdict(*gateways[0].store), "ok");
}

// SC-16
TEST_F(PostgresqlCommitsTest, SixteenGatewaysWithTwoThousandEntriesEachMakeOneTree) {
  constexpr std::size_t kGateways = 16;
  constexpr std::size_t kEntries = 2000;
  constexpr std::size_t kAtOnce = 50;
  std::vector<Gateway> gateways;
  for (std::size_t i = 0; i < kGateways; ++i) gateways.push_back(gateway());
  std::vector<std::thread> threads;
  for (Gateway& each : gateways) {
    threads.emplace_back([&each] {
      for (std::size_t n = 0; n < kEntries; n += kAtOnce) {
        std::vector<core::Draft> drafts;
        for (std::size_t k = 0; k < kAtOnce; ++k) drafts.push_back(TestLedger::event({{"n", n}}));
        const auto done = each.ledger->append_blocking(std::move(drafts), core::Urgency::Reports);
        ASSERT_TRUE(done) << done.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // The other entries: the key, and the start of each.
  EXPECT_EQ(number("SELECT count(*) FROM sallyport.entries"),
            kGateways * kEntries + kGateways +
                test::controls(*gateways[0].store, "key_created").size() +
                test::controls(*gateways[0].store, "gap").size());
  EXPECT_EQ(test::verdict(*gateways[0].store), "ok");
}

// SC-41
TEST_F(PostgresqlCommitsTest, GatewaysWhoseClocksAreNearlyTheSameNoteNoStep) {
  const SkewedClock ahead(900ms);
  const SkewedClock behind(-900ms);
  Gateway one = gateway(&ahead, ahead);
  Gateway other = gateway(&behind, behind);
  for (int n = 0; n < 20; ++n) {
    for (Gateway* const each : {&one, &other}) {
      const auto done =
          each->ledger->append_blocking({TestLedger::event({{"n", n}})}, core::Urgency::Announces);
      ASSERT_TRUE(done) << done.error().message;
    }
  }
  EXPECT_TRUE(test::controls(*one.store, "clock_step").empty());
  EXPECT_EQ(test::verdict(*one.store), "ok");
}

// SC-40
TEST_F(PostgresqlCommitsTest, AGatewayWithAWrongClockTakesNoCallAndSaysSoOnceForEachPeriod) {
  SkewedClock clock;
  Gateway one = gateway(&clock);
  const auto wait_for = [](const auto& what) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!what() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(20ms);
    return what();
  };
  const auto told = [&] { return test::controls(*one.store, "clock_skew").size(); };
  EXPECT_TRUE(one.ledger->ready());
  for (std::size_t period = 1; period <= 2; ++period) {
    clock.skew = period == 1 ? 5 : -5;
    ASSERT_TRUE(wait_for([&] { return !one.ledger->ready(); }));
    EXPECT_EQ(one.ledger->ready().error().cause, "clock");
    EXPECT_EQ(one.ledger->append_blocking({TestLedger::event({{"n", 1}})}, core::Urgency::Announces)
                  .error()
                  .cause,
              "clock");
    ASSERT_TRUE(wait_for([&] { return told() == period; }));
    std::this_thread::sleep_for(1500ms);
    EXPECT_EQ(told(), period) << "one entry for each period";
    clock.skew = 1;  // a difference of less than two seconds is accepted
    ASSERT_TRUE(wait_for([&] { return one.ledger->ready().has_value(); }));
    std::this_thread::sleep_for(1500ms);
  }
}

}  // namespace
}  // namespace sallyport::store
