#include "store/postgresql/postgresql_store.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "base/try.h"
#include "ledger/read/query.h"
#include "ledger/secret/private_file.h"
#include "store/postgresql/link.h"
#include "store/tables_sql.h"
#include "support/cutting_relay.h"
#include "support/ledger_checks.h"
#include "support/private_postgresql.h"

namespace sallyport::store {
namespace {

using ledger::ReadView;
using ledger::WriteView;
using test::CuttingRelay;
using test::PrivatePostgresql;
using test::TempFolder;
using test::TestLedger;
using namespace std::chrono_literals;

constexpr const char* kLockOfLog =
    "BEGIN; SELECT pg_advisory_xact_lock(1397772884, (SELECT log FROM sallyport.logs)::int4)";

// Returns a value that the test requires.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

class PostgresqlStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    if (PrivatePostgresql::instance() == nullptr) GTEST_SKIP() << "postgresql is not installed";
    url_ = PrivatePostgresql::instance()->new_database();
  }

  SharedLog log(const std::string& name = "main") const {
    return {.url = url_, .name = name, .lock_wait = 2s, .lease = 2s};
  }

  Result<std::unique_ptr<ledger::Ledger>> open(PostgresqlStore& store,
                                               const std::string& folder = "data") {
    return ledger::Ledger::open(
        {store, redactor_, clock_, entropy_},
        {.data_folder = folder_ / folder, .checkpoint_copy = folder_ / folder / "witness"});
  }

  static Result<ledger::Positions> append(ledger::Ledger& ledger, const std::string& what,
                                          std::size_t count = 1) {
    std::vector<core::Draft> drafts;
    for (std::size_t n = 0; n < count; ++n) {
      drafts.push_back(TestLedger::event({{"n", n}, {"what", what}}));
    }
    return ledger.append_blocking(std::move(drafts), core::Urgency::Announces);
  }

  std::string sql(const std::string& statements) {
    return PrivatePostgresql::sql(url_, statements);
  }

  TempFolder folder_;
  std::string url_;
  core::NoRedactor redactor_;
  SystemClock clock_;
  SystemEntropy entropy_;
};

// SC-5
TEST_F(PostgresqlStoreTest, TwoLogsOfOneDatabaseSeeNothingOfEachOther) {
  const auto first = must(PostgresqlStore::open({.log = log("first")}));
  const auto second = must(PostgresqlStore::open({.log = log("second")}));
  const auto one = must(open(*first, "one"));
  const auto other = must(open(*second, "other"));
  EXPECT_TRUE(append(*one, "x", 5));
  EXPECT_NE(one->origin(), other->origin());
  EXPECT_EQ(one->facts("instance")->size(), 1u);
  EXPECT_EQ(test::all_entries(*second).size(), 2u);
  EXPECT_EQ(test::all_entries(*first).size(), 7u);
  EXPECT_EQ(test::verdict(*first), "ok");
}

// SC-6
TEST_F(PostgresqlStoreTest, ManyThatStartAtOnceMakeTheTablesOnce) {
  std::vector<std::thread> all;
  std::atomic<int> opened = 0;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back([&] {
      const auto store = PostgresqlStore::open({.log = log()});
      EXPECT_TRUE(store) << store.error().message;
      opened += store.has_value();
    });
  }
  for (std::thread& each : all) each.join();
  EXPECT_EQ(opened, 6);
  EXPECT_EQ(sql("SELECT count(*) FROM sallyport.logs"), "1");
  sql("INSERT INTO sallyport.schema_version VALUES (99)");
  const auto newer = must(PostgresqlStore::open({.log = log()}));
  EXPECT_TRUE(newer->is_newer());
  EXPECT_TRUE(newer->read([](ReadView& view) -> Result<void> {
    EXPECT_EQ(*view.size(), 0u);
    return {};
  }));
  EXPECT_EQ(newer->write([](WriteView&) -> Result<void> { return {}; }).error().cause, "read_only");
}

// SC-7
TEST_F(PostgresqlStoreTest, AServerThatCannotKeepALogIsRefused) {
  const auto becomes = [&](const std::string& setting, const std::string& value) {
    sql(fmt::format("ALTER SYSTEM SET {} = {}", setting, value));
    sql("SELECT pg_reload_conf()");
    for (int i = 0; i < 500 && sql("SHOW " + setting) != value; ++i) {
      std::this_thread::sleep_for(20ms);
    }
  };
  for (const char* const setting : {"full_page_writes", "fsync"}) {
    becomes(setting, "off");
    const auto refused = PostgresqlStore::open({.log = log()});
    becomes(setting, "on");
    ASSERT_FALSE(refused) << setting;
    EXPECT_NE(refused.error().message.find(setting), std::string::npos);
  }
  SharedLog many = log();
  many.replicas = 1;
  EXPECT_NE(PostgresqlStore::open({.log = many}).error().message.find("standbys"),
            std::string::npos);
  EXPECT_TRUE(PostgresqlStore::open({.log = log()}));
}

// An engine under a false name: the relay makes the server answer another question.
// SC-7
TEST_F(PostgresqlStoreTest, AnEngineIsTriedInsteadOfTrusted) {
  struct Case {
    std::string asked;
    std::string answered_instead;
    std::string said;
  };
  const Case cases[] = {
      {"SELECT pg_try_advisory_lock(1397772884, -($1::int8)::int4)",
       "SELECT true, -($1::int8)::int4", "its advisory locks do not lock"},
      {"current_setting('server_version_num')::int8", "140000::int8", "older than PostgreSQL 15"},
      {"pg_is_in_recovery(), current_setting('fsync')", "true, current_setting('fsync')",
       "it is a standby"},
  };
  for (const Case& each : cases) {
    CuttingRelay relay(PrivatePostgresql::instance()->socket_file());
    relay.exchange(each.asked, each.answered_instead);
    SharedLog lying = log();
    lying.url = relay.through(url_);
    const auto refused = PostgresqlStore::open({.log = lying});
    ASSERT_FALSE(refused) << each.said;
    EXPECT_NE(refused.error().message.find(each.said), std::string::npos)
        << refused.error().message;
  }
}

// SC-9
TEST_F(PostgresqlStoreTest, AHostThatIsAllowedWithoutTlsIsOnRecord) {
  CuttingRelay relay(PrivatePostgresql::instance()->socket_file(), "127.0.0.2");
  SharedLog far = log();
  far.url = relay.through(url_);
  const auto refused = PostgresqlStore::open({.log = far});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("allow_plain_hosts"), std::string::npos);
  far.plain_hosts = {"127.0.0.2"};
  const auto store = must(PostgresqlStore::open({.log = far}));
  const auto ledger = must(open(*store));
  const auto started = test::controls(*store, "started");
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].at("unverified_host"), "127.0.0.2");
}

// SC-9
TEST_F(PostgresqlStoreTest, AnotherHostNeedsVerifiedTlsOrItsName) {
  SharedLog far = log();
  far.lock_wait = 100ms;
  far.url = "postgresql://x@/d?hostaddr=192.0.2.1&sslmode=require";
  const auto refused = PostgresqlStore::open({.log = far});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("allow_plain_hosts"), std::string::npos);
  far.plain_hosts = {"192.0.2.1"};
  EXPECT_EQ(PostgresqlStore::open({.log = far}).error().cause, "io") << "it is tried, in vain";
}

// SC-10
TEST_F(PostgresqlStoreTest, TheRoleOfAGatewayAppendsAndChangesNothing) {
  sql("DROP ROLE IF EXISTS gateway; DROP ROLE IF EXISTS keeper; CREATE ROLE gateway LOGIN; "
      "CREATE ROLE keeper LOGIN");
  SharedLog mine = log();
  mine.url = PrivatePostgresql::as_role(url_, "gateway");
  const auto early = PostgresqlStore::open({.log = mine});
  ASSERT_FALSE(early);
  EXPECT_NE(early.error().message.find("ledger tables"), std::string::npos);
  sql(tables_sql("gateway", "keeper"));
  {
    const auto store = must(PostgresqlStore::open({.log = mine}));
    const auto ledger = must(open(*store));
    ASSERT_TRUE(append(*ledger, "x", 300));
    EXPECT_TRUE(store->condition()) << store->condition().error().message;
    EXPECT_EQ(store->write([](WriteView& view) { return view.drop_bytes(0, 1); }).error().cause,
              "not_owner");
  }
  for (const char* const table : {"entries", "commits", "nodes"}) {
    EXPECT_EQ(PrivatePostgresql::refusal(mine.url, fmt::format("DELETE FROM sallyport.{}", table)),
              "42501");
    EXPECT_EQ(
        PrivatePostgresql::refusal(mine.url, fmt::format("UPDATE sallyport.{} SET log = 2", table)),
        "42501");
  }
  mine.url = PrivatePostgresql::as_role(url_, "keeper");
  const auto keeper = must(PostgresqlStore::open({.log = mine}));
  EXPECT_TRUE(keeper->write([](WriteView& view) { return view.replace_openings(1, ""); }));
  EXPECT_EQ(PrivatePostgresql::refusal(mine.url, "UPDATE sallyport.commits SET log = 2"), "42501");
  const auto owner = must(PostgresqlStore::open({.log = log()}));
  EXPECT_FALSE(owner->condition()) << "doctor tells that this role could change history";
}

// SC-11, SC-15
TEST_F(PostgresqlStoreTest, SeveralWritersMakeOneTree) {
  constexpr int kWriters = 4;
  constexpr std::size_t kEntries = 60;
  {
    const auto store = must(PostgresqlStore::open({.log = log()}));
    ASSERT_TRUE(open(*store)) << "makes the keys that all share";
  }
  std::vector<std::thread> all;
  for (int i = 0; i < kWriters; ++i) {
    all.emplace_back([&] {
      const auto store = must(PostgresqlStore::open({.log = log()}));
      const auto ledger = open(*store);
      ASSERT_TRUE(ledger) << ledger.error().message;
      for (std::size_t n = 0; n < kEntries; ++n) ASSERT_TRUE(append(**ledger, "x"));
    });
  }
  for (std::thread& each : all) each.join();
  const auto store = must(PostgresqlStore::open({.log = log(), .read_only = true}));
  EXPECT_EQ(std::ranges::count_if(
                test::all_entries(*store),
                [](const test::Seen& seen) { return seen.body.as_object().contains("what"); }),
            kWriters * kEntries);
  EXPECT_EQ(test::verdict(*store), "ok");
}

// SC-12
TEST_F(PostgresqlStoreTest, TwoCommitsAfterTheSameSizeCannotBothBeStored) {
  const auto store = must(PostgresqlStore::open({.log = log()}));
  ASSERT_TRUE(open(*store));
  EXPECT_EQ(PrivatePostgresql::refusal(
                url_,
                "INSERT INTO sallyport.commits SELECT log, previous, size, leaves, 'other' FROM "
                "sallyport.commits LIMIT 1"),
            "23505");
}

// SC-13
TEST_F(PostgresqlStoreTest, ACommitTakesTwoRoundTrips) {
  const auto store = must(PostgresqlStore::open({.log = log()}));
  const auto ledger = must(open(*store));
  ASSERT_TRUE(append(*ledger, "first"));
  const std::uint64_t before = store->round_trips();
  for (int i = 0; i < 5; ++i) {
    core::Draft draft = TestLedger::event({{"n", i}});
    draft.topic = "numbers";
    draft.facts = {{"open_call", "c", "x", true}};
    std::vector<core::Draft> drafts;
    drafts.push_back(std::move(draft));
    ASSERT_TRUE(ledger->append_blocking(std::move(drafts), core::Urgency::Announces));
  }
  EXPECT_EQ(store->round_trips() - before, 10u);
}

// SC-15, SC-47 (partly)
TEST_F(PostgresqlStoreTest, WhatNoCheckpointSignsIsNotBuiltUpon) {
  const auto store = must(PostgresqlStore::open({.log = log()}));
  const auto ledger = must(open(*store));
  ASSERT_TRUE(append(*ledger, "x"));
  sql("INSERT INTO sallyport.commits SELECT log, size, size + 1, sha256('a'), checkpoint FROM "
      "sallyport.commits ORDER BY previous DESC LIMIT 1; INSERT INTO sallyport.entries SELECT log, "
      "sequence + 1, bytes, openings, seal FROM sallyport.entries ORDER BY sequence DESC LIMIT 1");
  const auto refused = append(*ledger, "y");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, "corrupt");
  EXPECT_EQ(append(*ledger, "z").error().cause, "corrupt") << "nothing is built on damage";
}

// SC-47 (partly)
TEST_F(PostgresqlStoreTest, ADatabaseThatLostEntriesIsRefused) {
  const auto store = must(PostgresqlStore::open({.log = log()}));
  {
    const auto ledger = must(open(*store));
    ASSERT_TRUE(append(*ledger, "x"));
    ASSERT_TRUE(append(*ledger, "y"));
    sql("DELETE FROM sallyport.commits WHERE previous = (SELECT max(previous) FROM "
        "sallyport.commits)");
    EXPECT_EQ(append(*ledger, "z").error().cause, "corrupt") << "a running gateway";
  }
  const auto again = open(*store);
  ASSERT_FALSE(again) << "a starting one, by its witness";
  EXPECT_NE(again.error().message.find("acknowledge"), std::string::npos) << again.error().message;
}

// SC-17, LE-43
TEST_F(PostgresqlStoreTest, AWriterThatStopsDelaysOthersByTheTimeItMayHold) {
  SharedLog patient = log();
  patient.lock_wait = 300ms;
  const auto store = must(PostgresqlStore::open({.log = patient}));
  const auto put = [](WriteView& view) { return view.put_fact({"a", "b", "c"}); };
  ASSERT_TRUE(store->write(put));
  {
    const auto other = must(postgresql::Link::open({.url = url_, .hold = 60s}));
    ASSERT_TRUE(other->run(kLockOfLog));
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(store->write(put).error().cause, "busy");
    EXPECT_GE(std::chrono::steady_clock::now() - began, 290ms);
  }
  const auto stopped = must(postgresql::Link::open({.url = url_, .hold = 500ms}));
  ASSERT_TRUE(stopped->run(kLockOfLog));
  SharedLog waits = log();
  waits.lock_wait = 5s;
  const auto next = must(PostgresqlStore::open({.log = waits}));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(next->write(put));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
}

// The log through a relay that cuts the connection around a COMMIT.
class InDoubtTest : public PostgresqlStoreTest {
 protected:
  void SetUp() override {
    PostgresqlStoreTest::SetUp();
    if (IsSkipped()) return;
    relay_ = std::make_unique<CuttingRelay>(PrivatePostgresql::instance()->socket_file());
    SharedLog cut = log();
    cut.url = relay_->through(url_);
    cut.lock_wait = 1s;
    cut.lease = 600s;  // beats must not meet the knife
    store_ = must(PostgresqlStore::open({.log = cut}));
    ledger_ = must(open(*store_));
    ASSERT_TRUE(append(*ledger_, "before"));
    relay_->wait_until_quiet();
  }

  std::size_t count(const std::string& what) {
    std::size_t found = 0;
    for (const test::Seen& seen :
         test::all_entries(*PostgresqlStore::open({.log = log()}).value())) {
      const json::value* const said = seen.body.as_object().if_contains("what");
      found += said != nullptr && said->as_string() == what;
    }
    return found;
  }

  std::unique_ptr<CuttingRelay> relay_;
  std::unique_ptr<PostgresqlStore> store_;
  std::unique_ptr<ledger::Ledger> ledger_;
};

// SC-20 (partly), SC-21
TEST_F(InDoubtTest, ACommitWhoseAnswerIsLostIsFoundByItsContent) {
  relay_->cut_after(1, CuttingRelay::Cut::Answer);
  const auto written = append(*ledger_, "lost answer");
  EXPECT_TRUE(relay_->has_cut());
  EXPECT_TRUE(written) << written.error().message;
  EXPECT_EQ(count("lost answer"), 1u);
  ASSERT_TRUE(append(*ledger_, "after"));
  EXPECT_EQ(test::verdict(*store_), "ok");
}

// SC-20 (partly), SC-21
TEST_F(InDoubtTest, ACommitThatNeverArrivedIsFoundMissing) {
  relay_->cut_after(1, CuttingRelay::Cut::Question);
  const auto written = append(*ledger_, "lost question");
  EXPECT_TRUE(relay_->has_cut());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().cause, "io");
  EXPECT_EQ(count("lost question"), 0u);
  std::this_thread::sleep_for(1500ms);  // the ledger tries by itself
  const auto after = append(*ledger_, "after");
  EXPECT_TRUE(after) << after.error().message;
  EXPECT_EQ(test::verdict(*store_), "ok");
}

// SC-20, SC-21, SC-42 (partly)
TEST_F(InDoubtTest, NothingIsWrittenUntilTheFateOfACommitIsKnown) {
  relay_->cut_after(1, CuttingRelay::Cut::Answer);
  relay_->close_doors(true);
  const auto written = append(*ledger_, "in doubt");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().cause, "in_doubt");
  EXPECT_FALSE(append(*ledger_, "refused"));
  EXPECT_EQ(count("in doubt"), 1u) << "it happened, and nobody here knows yet";
  relay_->close_doors(false);
  bool again = false;
  for (int i = 0; i < 60 && !again; ++i) {
    std::this_thread::sleep_for(50ms);
    again = append(*ledger_, "after").has_value();
  }
  EXPECT_TRUE(again);
  EXPECT_EQ(count("in doubt"), 1u);
  EXPECT_EQ(count("refused"), 0u);
  EXPECT_EQ(test::verdict(*store_), "ok");
}

// The caller of an intent in doubt once reported that nothing ran and left the call open: it was
// closed a second time when its gateway was gone.
// SC-33, SC-20 (partly)
TEST_F(InDoubtTest, ACallWhoseIntentWasInDoubtEndsOnce) {
  const auto other_store = must(PostgresqlStore::open({.log = log()}));
  const auto other = must(open(*other_store));
  const auto ended = [](const std::string& call) {
    core::Draft draft{.kind = core::Kind::ToolAudit, .outcome = "persistence_failed"};
    draft.subject.set(&Subject::call_id, call);
    draft.body = {{"terminal", true}};
    return draft;
  };
  const auto entries = [&](const std::string& call, const std::string& kind) {
    std::size_t found = 0;
    EXPECT_TRUE(other_store->read([&](ReadView& view) -> Result<void> {
      const auto note = [&](const ledger::StoredEntry&, const ledger::EntryView& entry) {
        found += entry.kind == kind;
        return Result<bool>(true);
      };
      return find_entries(view, {.facets = {{ledger::Facet::Call, call}}}, note);
    }));
    return found;
  };
  const auto doubt = [&](const std::string& call, CuttingRelay::Cut what) {
    ASSERT_TRUE(append(*ledger_, "before " + call));
    relay_->wait_until_quiet();
    relay_->cut_after(1, what);
    relay_->close_doors(true);
    core::Draft intent = TestLedger::event({{"what", call}}, call);
    intent.facts = {{"open_call", call, ledger_->instance_id(), true}};
    std::vector<core::Draft> drafts;
    drafts.push_back(std::move(intent));
    EXPECT_EQ(ledger_->append_blocking(std::move(drafts), core::Urgency::Announces).error().cause,
              "in_doubt");
    std::vector<core::Draft> owed;
    owed.push_back(ended(call));
    ledger_->owe(std::move(owed));
  };
  const auto opens = [&](const std::string& call, const std::string& kind) {
    relay_->close_doors(false);
    for (int i = 0; i < 400 && entries(call, kind) == 0; ++i) std::this_thread::sleep_for(50ms);
    EXPECT_EQ(entries(call, kind), 1u) << call;
    EXPECT_FALSE(*other->fact("open_call", call)) << call;
  };
  doubt("written", CuttingRelay::Cut::Answer);
  EXPECT_TRUE(*other->fact("open_call", "written"));
  opens("written", "tool_audit");
  doubt("never written", CuttingRelay::Cut::Question);
  opens("never written", "tool_audit");
  doubt("closed", CuttingRelay::Cut::Answer);
  // Another gateway ends it, as for a lost gateway.
  core::Draft closing = ended("closed");
  closing.facts = {{"open_call", "closed", std::nullopt}};
  std::vector<core::Draft> drafts;
  drafts.push_back(std::move(closing));
  ASSERT_TRUE(other->append_blocking(std::move(drafts), core::Urgency::Reports));
  opens("closed", "topic");
  EXPECT_EQ(entries("closed", "tool_audit"), 1u);
  EXPECT_EQ(test::verdict(*other_store), "ok");
}

// SC-30 (partly), SC-49 (partly)
TEST_F(PostgresqlStoreTest, AGatewayThatTheDatabaseDoesNotHearOfBeginsNoEffect) {
  CuttingRelay relay(PrivatePostgresql::instance()->socket_file());
  SharedLog cut = log();
  cut.url = relay.through(url_);
  cut.lock_wait = 200ms;
  cut.lease = 1s;
  const auto store = must(PostgresqlStore::open({.log = cut}));
  const auto ledger = must(open(*store));
  ASSERT_TRUE(ledger->ready());
  const auto becomes = [&](bool ready) {
    for (int i = 0; i < 100 && ledger->ready().has_value() != ready; ++i) {
      if (!ready) relay.cut_after(0, CuttingRelay::Cut::Question);
      std::this_thread::sleep_for(50ms);
    }
    return ledger->ready().has_value() == ready;
  };
  relay.close_doors(true);
  // No beat arrives for longer than the lease.
  const auto silent = std::chrono::steady_clock::now() + 2 * cut.lease;
  while (std::chrono::steady_clock::now() < silent) {
    relay.cut_after(0, CuttingRelay::Cut::Question);
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(becomes(false));
  EXPECT_FALSE(append(*ledger, "refused"));
  relay.cut_after(-1, CuttingRelay::Cut::Question);
  relay.close_doors(false);
  EXPECT_TRUE(becomes(true)) << "without a restart";
  const auto again = append(*ledger, "again");
  EXPECT_TRUE(again) << again.error().message;
}

// SC-52, SC-53
TEST_F(PostgresqlStoreTest, AGatewayWithAnotherKeyDoesNotJoin) {
  const auto store = must(PostgresqlStore::open({.log = log()}));
  ASSERT_TRUE(open(*store));
  for (const char* const key : {"digest.key", "box.key", "signing.key"}) {
    const auto folder = folder_ / (std::string("other-") + key);
    std::filesystem::copy(folder_ / "data", folder, std::filesystem::copy_options::recursive);
    std::filesystem::remove(folder / "keys" / key);
    const auto refused = open(*store, std::string("other-") + key);
    ASSERT_FALSE(refused) << key;
    EXPECT_NE(refused.error().message.find(key), std::string::npos) << refused.error().message;
  }
  EXPECT_EQ(sql("SELECT count(*) FROM sallyport.beats"), "0");
}

// SC-34
TEST_F(PostgresqlStoreTest, AClaimBelongsToOneGatewayUntilItsConnectionEnds) {
  const auto store = must(PostgresqlStore::open({.log = log()}));
  const auto one = must(open(*store));
  auto other = must(open(*store));
  auto held = *other->claim("call");
  ASSERT_TRUE(held);
  EXPECT_FALSE(*one->claim("call"));
  EXPECT_TRUE(*one->claim("another"));
  held.reset();
  EXPECT_TRUE(*one->claim("call"));
  held = *other->claim("kept");
  ASSERT_TRUE(held);
  other.reset();
  // The server releases the claim when it sees the end of the connection, a little later.
  auto freed = *one->claim("kept");
  for (int i = 0; !freed && i < 1000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    freed = *one->claim("kept");
  }
  EXPECT_TRUE(freed) << "the gateway is gone";
}

// SC-25 (partly)
TEST_F(PostgresqlStoreTest, NoContentOfASealedFieldIsInTheClear) {
  const auto store = must(PostgresqlStore::open({.log = log()}));
  const auto ledger = must(open(*store));
  std::vector<core::Draft> drafts = {TestLedger::event({{"text", "quite-a-secret"}})};
  ASSERT_TRUE(ledger->append_blocking(std::move(drafts), core::Urgency::Announces));
  EXPECT_EQ(test::all_entries(*store).back().body.at("text"), "quite-a-secret");
  EXPECT_EQ(sql("SELECT count(*) FROM sallyport.entries WHERE position('quite-a-secret'::bytea IN "
                "openings) > 0 OR position('quite-a-secret'::bytea IN bytes) > 0"),
            "0");
  sql("UPDATE sallyport.entries SET openings = set_byte(openings, 30, get_byte(openings, 30) # 1) "
      "WHERE sequence = 2");
  EXPECT_NE(test::verdict(*store), "ok");
}

TEST_F(PostgresqlStoreTest, NoSecretOfTheFolderIsInTheDatabase) {
  const auto store = must(PostgresqlStore::open({.log = log()}));
  const auto ledger = must(open(*store));
  ASSERT_TRUE(append(*ledger, "x"));
  const std::string dump =
      sql("SELECT string_agg(id, ' ') || (SELECT string_agg(encode(value, 'escape'), ' ') FROM "
          "sallyport.facts) FROM sallyport.log_keys");
  for (const char* const key : {"digest.key", "box.key"}) {
    const auto text = ledger::read_private_file(folder_ / "data" / "keys" / key);
    EXPECT_EQ(dump.find(text->value().substr(0, 16)), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace sallyport::store
