// A ledger in a log that gateways of several machines share, with a store that reports the live
// gateways as a test chooses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <mutex>

#include "ledger/copy_ledger.h"
#include "ledger/ledger.h"
#include "ledger/member/membership.h"
#include "ledger/secret/key_folder.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temp_folder.h"
#include "support/test_clock.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

using std::chrono::milliseconds;
using test::TestLedger;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns the live gateways; the writer thread calls it.
class Members {
 public:
  template <class Look>
  auto with(const Look& look) {
    const std::lock_guard lock(mutex_);
    return look(*this);
  }

  std::vector<Membership::Silent> silent;
  bool still_silent = true;
  std::vector<std::string> dead;
  std::vector<std::string> forgotten;
  std::vector<std::string> names;  // taken after the first
  std::string unfit;               // the reason why this gateway may not act

 private:
  std::mutex mutex_;
};

class Leased final : public Membership {
 public:
  explicit Leased(Members& members) : members_(members) {}

  bool alive(const std::string& instance) const override {
    return members_.with(
        [&](Members& m) { return std::ranges::find(m.dead, instance) == m.dead.end(); });
  }
  Result<std::shared_ptr<void>> claim(std::string_view) override { return nullptr; }
  bool by_lease() const override { return true; }
  Result<void> may_act() const override {
    const std::string cause = members_.with([](Members& m) { return m.unfit; });
    if (cause.empty()) return {};
    return fail(ErrorCode::Unavailable, "not now", {}, cause);
  }
  Result<void> rejoin(const std::string& name) override {
    members_.with([&](Members& m) {
      m.names.push_back(name);
      m.unfit.clear();
    });
    return {};
  }
  std::vector<Silent> silent() override {
    return members_.with([](Members& m) { return m.silent; });
  }
  Result<bool> is_still_silent(const Silent&) override {
    return members_.with([](Members& m) { return m.still_silent; });
  }
  void forget(const Silent& lost) override {
    members_.with([&](Members& m) {
      m.forgotten.push_back(lost.instance);
      std::erase_if(m.silent, [&](const Silent& each) { return each.instance == lost.instance; });
      m.dead.push_back(lost.instance);
    });
  }

 private:
  Members& members_;
};

class SharedStore final : public LedgerStore {
 public:
  SharedStore(std::unique_ptr<store::SqliteStore> file, Members& members, std::string identity)
      : file_(std::move(file)), members_(members), identity_(std::move(identity)) {}

  Result<void> write(const Work& work, Manner manner) override {
    return file_->write(work, std::move(manner));
  }
  Result<void> read(const Look& look) override { return file_->read(look); }
  Result<bool> changed_elsewhere() override { return file_->changed_elsewhere(); }
  void check_seals_with(std::shared_ptr<const KeyedDigest> secret) override {
    file_->check_seals_with(std::move(secret));
  }
  Result<void> scrub(milliseconds longest_wait) override { return file_->scrub(longest_wait); }
  Result<void> check_files() override { return file_->check_files(); }
  bool is_newer() const override { return false; }
  std::string name() const override { return "shared"; }
  std::string identity() const override { return identity_; }
  std::string unverified_host() const override { return "db.example"; }
  Result<std::unique_ptr<Membership>> join(const Joining&) override {
    return std::make_unique<Leased>(members_);
  }

 private:
  std::unique_ptr<store::SqliteStore> file_;
  Members& members_;
  std::string identity_;
};

class SharedLedgerTest : public testing::Test {
 protected:
  SharedLedgerTest() {
    settings.data_folder = folder.path();
    close_interrupted = [](const json::object& entry) {
      core::Draft draft{.kind = core::Kind::ToolAudit, .outcome = "invalidated"};
      draft.body = {{"opened_by", entry.at("kind")}};
      return std::vector{std::move(draft)};
    };
  }
  void TearDown() override { close(); }

  Result<void> try_open() {
    close();
    auto file = store::SqliteStore::open({.file = folder.path() / "ledger.db"});
    if (!file) return std::unexpected(file.error());
    store = std::make_unique<SharedStore>(std::move(*file), members, identity);
    auto opened = Ledger::open({*store, redactor, clock, entropy, close_interrupted}, settings);
    if (!opened) return std::unexpected(opened.error());
    ledger = std::move(*opened);
    ledger->on_late_records([this] { ++rung; });
    return {};
  }
  void open() {
    const Result<void> opened = try_open();
    ASSERT_TRUE(opened) << opened.error().message;
  }
  void close() {
    ledger.reset();
    store.reset();
  }

  std::uint64_t append(core::Draft draft) {
    const auto written = ledger->append_blocking({std::move(draft)}, core::Urgency::Reports);
    EXPECT_TRUE(written) << written.error().message;
    return written ? written->at(0).sequence : 0;
  }
  // The writer searches for lost gateways after each commit; the second waits for the first search.
  void look() {
    for (int i = 0; i < 2; ++i) append(TestLedger::event({{"n", i}}));
  }

  // A gateway on another machine, with this many open calls.
  void add_gateway(const std::string& name, int calls = 0, json::object said = {}) {
    core::Draft started = control("started");
    started.facts.push_back({"instance", name, json::serialize(said)});
    const std::uint64_t at = append(std::move(started));
    core::Draft opened = TestLedger::event({});
    for (int i = 0; i < calls; ++i) {
      opened.facts.push_back(
          {"open_call", name + "-" + std::to_string(i), name + "@" + std::to_string(at)});
    }
    append(std::move(opened));
  }

  // Returns bodies of the control entries with this name.
  std::vector<json::object> told(std::string_view name) {
    std::vector<json::object> bodies;
    EXPECT_TRUE(store->read([&](ReadView& view) {
      return view.scan(0, *view.size(), [&](const StoredEntry& stored) -> Result<bool> {
        const json::value entry = *parse_own_json(*stored.bytes);
        const json::object& body = entry.at("body").as_object();
        if (entry.at("kind") == "control" && body.at("control").as_string() == name)
          bodies.push_back(body);
        return true;
      });
    }));
    return bodies;
  }
  std::optional<std::string> fact(std::string_view space, std::string_view key) {
    return ledger->fact(space, key).value();
  }

  test::TempFolder folder;
  Members members;
  Ledger::Settings settings;
  Ledger::Close close_interrupted;
  std::string identity;
  test::TestClock clock;
  SystemEntropy entropy;
  core::NoRedactor redactor;
  std::unique_ptr<SharedStore> store;
  std::unique_ptr<Ledger> ledger;
  std::atomic<int> rung = 0;
};

// SC-31, SC-32
TEST_F(SharedLedgerTest, AGatewayThatIsSilentIsDeclaredLostAndItsCallsAreClosed) {
  open();
  add_gateway("lost", 2);
  members.with([](Members& m) { m.silent = {{"lost", "host-b"}}; });
  look();
  const std::vector<json::object> lost = told("instance_lost");
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].at("instance"), "lost");
  EXPECT_EQ(lost[0].at("host"), "host-b");
  EXPECT_EQ(lost[0].at("by").as_string(), ledger->instance_id());
  EXPECT_EQ(lost[0].at("calls"), 2);
  EXPECT_EQ(fact("instance", "lost"), std::nullopt);
  EXPECT_TRUE(ledger->facts("open_call")->empty());
  EXPECT_EQ(ledger->take_late_records().size(), 2u);
  EXPECT_GE(rung, 1);
  EXPECT_THAT(members.with([](Members& m) { return m.forgotten; }), ElementsAre("lost"));
}

// SC-31
TEST_F(SharedLedgerTest, AGatewayThatGivesASignOfLifeIsNotLost) {
  open();
  add_gateway("slow", 1);
  members.with([](Members& m) {
    m.silent = {{"slow", "host-b"}};
    m.still_silent = false;
  });
  look();
  EXPECT_THAT(told("instance_lost"), IsEmpty());
  EXPECT_EQ(ledger->facts("open_call")->size(), 1u);
  EXPECT_TRUE(fact("instance", "slow"));
  EXPECT_THAT(members.with([](Members& m) { return m.forgotten; }), IsEmpty());
  EXPECT_EQ(rung, 0);
}

// SC-32: writers do not wait for thousands of calls at once
TEST_F(SharedLedgerTest, ManyCallsAreClosedInSeveralCommits) {
  open();
  add_gateway("lost", 501);
  members.with([](Members& m) { m.silent = {{"lost", "host-b"}}; });
  look();
  EXPECT_TRUE(ledger->facts("open_call")->empty());
  EXPECT_EQ(ledger->take_late_records().size(), 501u);
  EXPECT_EQ(told("instance_lost").size(), 1u);
  add_gateway("next", 500);
  members.with([](Members& m) { m.silent = {{"next", "host-b"}}; });
  look();
  EXPECT_TRUE(ledger->facts("open_call")->empty());
  EXPECT_EQ(told("instance_lost").back().at("calls"), 500);
}

// SC-31: it no longer has a row, and wrote no entry that it stopped.
TEST_F(SharedLedgerTest, AGatewayThatOnlyTheLogNamesIsLookedForEverySecond) {
  open();
  look();  // the first search
  add_gateway("gone", 1);
  members.with([](Members& m) { m.dead = {"gone"}; });
  clock.advance(milliseconds(999));
  look();
  EXPECT_THAT(told("instance_lost"), IsEmpty());
  clock.advance(milliseconds(1));
  look();
  ASSERT_EQ(told("instance_lost").size(), 1u);
  EXPECT_EQ(told("instance_lost")[0].at("host"), "");
  EXPECT_TRUE(ledger->facts("open_call")->empty());
}

// SC-40
TEST_F(SharedLedgerTest, EachPeriodOfAWrongClockIsToldOnce) {
  open();
  const auto seconds_pass = [&](const std::string& cause) {
    members.with([&](Members& m) { m.unfit = cause; });
    for (int i = 0; i < 2; ++i) {
      clock.advance(std::chrono::seconds(1));
      look();
    }
  };
  seconds_pass("");
  EXPECT_THAT(told("clock_skew"), IsEmpty());
  seconds_pass("busy");
  EXPECT_THAT(told("clock_skew"), IsEmpty());
  seconds_pass("clock");
  EXPECT_EQ(told("clock_skew").size(), 1u);
  seconds_pass("");
  seconds_pass("clock");
  EXPECT_EQ(told("clock_skew").size(), 2u);
}

// SC-33
TEST_F(SharedLedgerTest, AGatewayThatWasDeclaredLostGoesOnUnderAnotherName) {
  open();
  const std::string before = ledger->instance_id();
  look();
  EXPECT_EQ(ledger->instance_id(), before);
  members.with([](Members& m) { m.unfit = "fenced"; });
  look();
  const std::vector<std::string> names = members.with([](Members& m) { return m.names; });
  ASSERT_EQ(names.size(), 1u);
  EXPECT_EQ(ledger->instance_id(), names[0]);
  const json::object started = told("started").back();
  EXPECT_EQ(started.at("rejoined").as_string(), before);
  EXPECT_TRUE(fact("instance", names[0]));
  EXPECT_TRUE(ledger->ready());
}

// SC-54
TEST_F(SharedLedgerTest, TheNextKeyIsAnnouncedAndAllGatewaysMustHaveIt) {
  open();
  const KeyFolder keys = *KeyFolder::open(folder.path());
  const SigningKey next = SigningKey::generate(ledger->origin(), entropy);
  look();
  EXPECT_EQ(fact("instance", ledger->instance_id()), "{}");
  ASSERT_TRUE(keys.stage(next));
  look();
  const std::string said = canonical_json(json::object{{"next_key", next.verifier().text()}});
  EXPECT_EQ(fact("instance", ledger->instance_id()), said);

  add_gateway("other");
  const Result<VerifierKey> refused = ledger->rotate_key(false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("1 of the gateways"));
  add_gateway("other", 0, {{"next_key", next.verifier().text()}});
  const Result<VerifierKey> rotated = ledger->rotate_key(false);
  ASSERT_TRUE(rotated) << rotated.error().message;
  EXPECT_EQ(*rotated, next.verifier());
  EXPECT_EQ((*keys.signing_key())->verifier(), next.verifier());
}

// SC-54
TEST_F(SharedLedgerTest, AGatewayThatIsGoneNeedsNoNextKey) {
  open();
  add_gateway("gone");
  members.with([](Members& m) { m.dead = {"gone"}; });
  const std::string before = fact("ledger", "key").value();
  const Result<VerifierKey> rotated = ledger->rotate_key(false);
  ASSERT_TRUE(rotated) << rotated.error().message;
  EXPECT_NE(rotated->text(), before);
  EXPECT_EQ(fact("ledger", "key"), rotated->text());
}

// SC-48
TEST_F(SharedLedgerTest, ALogInAnotherDatabaseIsAnotherLogUntilAPersonSaysOtherwise) {
  open();
  EXPECT_EQ(fact("ledger", "database"), std::nullopt);
  identity = "db-1";
  open();
  EXPECT_EQ(fact("ledger", "database"), "db-1");
  identity = "db-2";
  const Result<void> other = try_open();
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().cause, "corrupt");
  EXPECT_THAT(other.error().message, HasSubstr("db-1"));
  settings.acknowledged_rollback = "restored on purpose";
  settings.announced = false;
  open();
  EXPECT_EQ(fact("ledger", "database"), "db-2");
  settings.acknowledged_rollback.clear();
  open();
  identity = "";
  open();
  EXPECT_EQ(fact("ledger", "database"), "db-2") << "not known, and not compared";
}

// SC-4
TEST_F(SharedLedgerTest, ALogThatWasMovedHereOpensHere) {
  open();
  EXPECT_EQ(told("started")[0].at("unverified_host"), "db.example");
  append(moved("shared", "ops"));
  open();
  EXPECT_EQ(fact("ledger", "moved"), "shared");
}

}  // namespace
}  // namespace sallyport::ledger
