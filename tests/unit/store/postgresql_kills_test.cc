// Gateways and PostgreSQL are killed at random moments: acknowledged entries stay.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "base/guarded.h"
#include "store/postgresql/postgresql_store.h"
#include "support/ledger_checks.h"
#include "support/private_postgresql.h"

namespace sallyport::store {
namespace {

using test::PrivatePostgresql;
using test::TempFolder;
using test::TestLedger;
using namespace std::chrono_literals;

class PostgresqlKillsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (PrivatePostgresql::instance() == nullptr) GTEST_SKIP() << "postgresql is not installed";
    url_ = PrivatePostgresql::instance()->new_database();
  }

  struct Gateway {
    std::unique_ptr<PostgresqlStore> store;
    std::unique_ptr<ledger::Ledger> ledger;
  };

  // Has neither store nor ledger if it could not be opened.
  Gateway gateway(std::chrono::milliseconds lease) {
    auto store = PostgresqlStore::open({.log = {.url = url_, .lock_wait = 5s, .lease = lease}});
    if (!store) return {};
    auto ledger =
        ledger::Ledger::open({**store, redactor_, clock_, entropy_,
                              [](const json::object&) { return std::vector<core::Draft>{}; }},
                             {.data_folder = folder_ / "data"});
    if (!ledger) return {};
    return {std::move(*store), std::move(*ledger)};
  }

  static bool append(Gateway& gateway, const std::string& what) {
    return gateway.ledger
        ->append_blocking({TestLedger::event({{"what", what}})}, core::Urgency::Announces)
        .has_value();
  }

  // A gateway in a separate process, which reports acknowledged entries.
  struct Child {
    pid_t pid = -1;
    int told = -1;
    std::chrono::steady_clock::time_point began{};
  };
  Child start(int number) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      Gateway mine = gateway(2s);
      for (int n = 0; mine.ledger; ++n) {
        const std::string what = fmt::format("{}-{}\n", number, n);
        if (append(mine, what)) (void)!::write(ends[1], what.data(), what.size());
      }
      ::_exit(3);
    }
    ::close(ends[1]);
    return {pid, ends[0], std::chrono::steady_clock::now()};
  }

  // The delay after it began to open the log, or after its first acknowledgement.
  void end(const Child& child, std::chrono::microseconds life, bool writes,
           std::vector<std::string>& acknowledged) {
    pollfd first{child.told, POLLIN, 0};
    if (writes) {
      EXPECT_EQ(::poll(&first, 1, 60'000), 1);
      std::this_thread::sleep_for(life);
    } else {
      std::this_thread::sleep_until(child.began + life);
    }
    ::kill(child.pid, SIGKILL);
    int status = 0;
    ::waitpid(child.pid, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it could not open the log";
    std::string told;
    std::array<char, 4096> buffer;
    for (ssize_t size = 0; (size = ::read(child.told, buffer.data(), buffer.size())) > 0;) {
      told.append(buffer.data(), static_cast<std::size_t>(size));
    }
    ::close(child.told);
    for (std::size_t at = 0; at < told.size();) {
      const std::size_t next = told.find('\n', at) + 1;
      acknowledged.push_back(told.substr(at, next - at));
      at = next;
    }
  }

  static void check(ledger::LedgerStore& store, const std::vector<std::string>& acknowledged) {
    std::map<std::string, int> found;
    for (const test::Seen& seen : test::all_entries(store)) {
      const json::value* const said = seen.body.as_object().if_contains("what");
      if (said != nullptr) ++found[std::string(said->as_string())];
    }
    for (const auto& [what, count] : found) EXPECT_EQ(count, 1) << what;
    for (const std::string& what : acknowledged) EXPECT_EQ(found[what], 1) << what;
    EXPECT_EQ(test::verdict(store), "ok");
  }

  TempFolder folder_;
  std::string url_;
  core::NoRedactor redactor_;
  SystemClock clock_;
  SystemEntropy entropy_;
  std::mt19937 dice_{7};
};

// SC-44
TEST_F(PostgresqlKillsTest, AGatewayThatIsKilledAtAnyOf200MomentsLosesNothingAcknowledged) {
  constexpr int kKills = 200;
  constexpr int kAtOnce = 4;
  ASSERT_TRUE(gateway(2s).ledger) << "makes the keys that all share";
  std::uniform_int_distribution<int> life(1'000, 150'000);
  std::vector<std::string> acknowledged;
  for (int number = 0; number < kKills; number += kAtOnce) {
    std::vector<Child> children;
    for (int i = 0; i < kAtOnce; ++i) children.push_back(start(number + i));
    for (const Child& child : children) {
      const bool writes = dice_() % 2 == 0;
      end(child, std::chrono::microseconds(life(dice_)), writes, acknowledged);
    }
  }
  EXPECT_GT(acknowledged.size(), kKills / 4) << "they were killed while they wrote";
  // Another gateway closes the entries that they left open.
  Gateway steady = gateway(2s);
  ASSERT_TRUE(steady.ledger);
  for (int i = 0; i < 600 && steady.ledger->facts("instance")->size() > 1; ++i) {
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_EQ(steady.ledger->facts("instance")->size(), 1u);
  check(*steady.store, acknowledged);
}

// SC-45, SC-28
TEST_F(PostgresqlKillsTest, ADatabaseThatIsKilledAtAnyOf50MomentsLosesNothingAcknowledged) {
  constexpr int kKills = 50;
  constexpr int kGateways = 3;
  std::vector<Gateway> gateways;
  for (int i = 0; i < kGateways; ++i) gateways.push_back(gateway(20s));
  for (const Gateway& each : gateways) ASSERT_TRUE(each.ledger);
  Guarded<std::vector<std::string>> acknowledged;
  std::atomic<int> count = 0;
  std::atomic<bool> stopping = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kGateways; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; !stopping; ++n) {
        const std::string what = fmt::format("{}-{}", i, n);
        if (append(gateways[i], what)) {
          acknowledged.with([&](auto& all) { all.push_back(what); });
          ++count;
        } else {
          std::this_thread::sleep_for(5ms);
        }
      }
    });
  }
  std::uniform_int_distribution<int> later(0, 60'000);
  for (int kills = 0; kills < kKills; ++kills) {
    const int before = count;
    for (int i = 0; i < 6000 && count == before; ++i) std::this_thread::sleep_for(10ms);
    EXPECT_GT(count, before) << "it writes again after kill " << kills << ": "
                             << gateways[0].ledger->health().detail;
    if (HasFailure()) break;
    std::this_thread::sleep_for(std::chrono::microseconds(later(dice_)));
    PrivatePostgresql::instance()->kill_and_restart();
  }
  stopping = true;
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 500 && !append(gateways[0], fmt::format("last {}", i)); ++i) {
    std::this_thread::sleep_for(20ms);
  }
  check(*gateways[0].store, acknowledged.with([](auto& all) { return all; }));
  EXPECT_TRUE(test::controls(*gateways[0].store, "instance_lost").empty());
}

}  // namespace
}  // namespace sallyport::store
