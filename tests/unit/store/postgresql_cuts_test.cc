// A connection is cut at each message of a commit, in both directions, while another gateway
// writes: closed there, or left open without another byte.
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "store/postgresql/postgresql_store.h"
#include "support/cutting_relay.h"
#include "support/ledger_checks.h"
#include "support/private_postgresql.h"

namespace sallyport::store {
namespace {

using test::CuttingRelay;
using test::PrivatePostgresql;
using test::TempFolder;
using test::TestLedger;
using namespace std::chrono_literals;
using Cut = CuttingRelay::Cut;
using Then = CuttingRelay::Then;

// For a long run every message stalls; otherwise one of this many.
int step_of_stalls() {
  return std::getenv("SALLYPORT_CLUSTER_EFFORT") == nullptr ? 9 : 1;
}

class PostgresqlCutsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (PrivatePostgresql::instance() == nullptr) GTEST_SKIP() << "postgresql is not installed";
    url_ = PrivatePostgresql::instance()->new_database();
    relay_ = std::make_unique<CuttingRelay>(PrivatePostgresql::instance()->socket_file());
    cut_ = gateway(relay_->through(url_));
    other_ = gateway(url_);
  }

  struct Gateway {
    std::unique_ptr<PostgresqlStore> store;
    std::unique_ptr<ledger::Ledger> ledger;
  };

  Gateway gateway(const std::string& url) {
    auto store = PostgresqlStore::open(
        {.log = {.url = url, .lock_wait = 1500ms, .hold = 300ms, .lease = 600s}});
    if (!store) throw std::runtime_error(store.error().message);
    auto ledger = ledger::Ledger::open({**store, redactor_, clock_, entropy_},
                                       {.data_folder = folder_ / "data"});
    if (!ledger) throw std::runtime_error(ledger.error().message);
    return {std::move(*store), std::move(*ledger)};
  }

  Result<ledger::Positions> append(Gateway& gateway, const std::string& what) {
    core::Draft draft = TestLedger::event({{"what", what}});
    draft.topic = "cuts";
    draft.facts = {{"open_call", what, "x", true}};
    std::vector<core::Draft> drafts;
    drafts.push_back(std::move(draft));
    Result<ledger::Positions> done =
        gateway.ledger->append_blocking(std::move(drafts), core::Urgency::Announces);
    if (done) {
      acknowledged_.push_back(what);
    } else if (done.error().cause != "in_doubt") {
      refused_.push_back(what);
    }
    return done;
  }

  // Waits until it writes again.
  bool recovers(Gateway& gateway, const std::string& what) {
    for (int i = 0; i < 400; ++i) {
      if (append(gateway, fmt::format("{} {}", what, i))) return true;
      std::this_thread::sleep_for(20ms);
    }
    return false;
  }

  // Returns true if the commit has enough messages, so that it was cut.
  bool cut(int message, Cut what, Then then) {
    const std::string name = fmt::format("{} {} {}", what == Cut::Answer ? "answer" : "question",
                                         then == Then::Stall ? "stall" : "close", message);
    EXPECT_TRUE(recovers(cut_, "before " + name));
    relay_->cut_at_message(message, what, then);
    std::thread beside([&] {
      const auto done = other_.ledger->append_blocking(
          {TestLedger::event({{"what", "beside " + name}})}, core::Urgency::Reports);
      EXPECT_TRUE(done) << name << ": " << done.error().message;
    });
    (void)append(cut_, name);
    beside.join();
    const bool was_cut = relay_->has_cut();
    relay_->spare();
    return was_cut;
  }

  void check() {
    std::map<std::string, int> found;
    for (const test::Seen& seen : test::all_entries(*other_.store)) {
      const json::value* const said = seen.body.as_object().if_contains("what");
      if (said != nullptr) ++found[std::string(said->as_string())];
    }
    for (const auto& [what, count] : found) EXPECT_EQ(count, 1) << what;
    for (const std::string& what : acknowledged_) EXPECT_EQ(found[what], 1) << what;
    for (const std::string& what : refused_) EXPECT_EQ(found[what], 0) << what;
    EXPECT_EQ(test::verdict(*other_.store), "ok");
  }

  TempFolder folder_;
  std::string url_;
  core::NoRedactor redactor_;
  SystemClock clock_;
  SystemEntropy entropy_;
  std::unique_ptr<CuttingRelay> relay_;
  Gateway cut_;
  Gateway other_;
  std::vector<std::string> acknowledged_;
  std::vector<std::string> refused_;
};

// SC-20, SC-21, SC-11
TEST_F(PostgresqlCutsTest, AConnectionThatIsClosedAtAnyMessageLosesAndRepeatsNothing) {
  constexpr int kFewest = 15;  // messages of a commit in each direction
  for (const Cut what : {Cut::Question, Cut::Answer}) {
    int message = 0;
    while (cut(message, what, Then::Close)) ++message;
    EXPECT_GE(message, kFewest);
    EXPECT_LT(message, 200);
  }
  EXPECT_TRUE(recovers(cut_, "at the end"));
  check();
}

// SC-17, SC-20, SC-21
TEST_F(PostgresqlCutsTest, AGatewayThatStopsAtAnyMessageHoldsUpOthersNoLongerThanItMayHold) {
  for (const Cut what : {Cut::Question, Cut::Answer}) {
    int message = 0;
    // The others wait 1.5 s for the lock, so they write only if it is released before.
    while (cut(message, what, Then::Stall)) message += step_of_stalls();
    EXPECT_GE(message, step_of_stalls());
  }
  EXPECT_TRUE(recovers(cut_, "at the end"));
  check();
}

}  // namespace
}  // namespace sallyport::store
