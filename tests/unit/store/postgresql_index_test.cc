// Indexes of blocks, which a shared log builds beside its commits.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <thread>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/try.h"
#include "ledger/read/query.h"
#include "ledger/write/block_writer.h"
#include "store/postgresql/link.h"
#include "store/postgresql/postgresql_store.h"
#include "support/ledger_checks.h"
#include "support/private_postgresql.h"

namespace sallyport::store {
namespace {

using ledger::Facet;
using ledger::Filter;
using ledger::ReadView;
using test::PrivatePostgresql;
using test::TempFolder;
using test::TestLedger;
using namespace std::chrono_literals;

class PostgresqlIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    if (PrivatePostgresql::instance() == nullptr) GTEST_SKIP() << "postgresql is not installed";
    url_ = PrivatePostgresql::instance()->new_database();
    for (Gateway& each : gateways_) each = gateway();
  }

  struct Gateway {
    std::unique_ptr<PostgresqlStore> store;
    std::unique_ptr<ledger::Ledger> ledger;
  };

  Gateway gateway() {
    auto store = PostgresqlStore::open({.log = {.url = url_, .lease = 60s}});
    EXPECT_TRUE(store) << store.error().message;
    auto ledger = ledger::Ledger::open({**store, redactor_, clock_, entropy_},
                                       {.data_folder = folder_ / "data"});
    EXPECT_TRUE(ledger) << ledger.error().message;
    return {std::move(*store), std::move(*ledger)};
  }

  // Both write in turns, so that neither has seen all of a block.
  void append(int count) {
    constexpr int kAtOnce = 500;
    for (int n = 0; n < count; n += kAtOnce) {
      std::vector<core::Draft> drafts;
      for (int k = n; k < std::min(count, n + kAtOnce); ++k) {
        drafts.push_back(TestLedger::event({{"n", k}}, fmt::format("call-{}", k / 700)));
      }
      const auto done = gateways_[n / kAtOnce % 2].ledger->append_blocking(std::move(drafts),
                                                                           core::Urgency::Reports);
      ASSERT_TRUE(done) << done.error().message;
    }
  }

  std::uint64_t indexed() {
    std::uint64_t blocks = 0;
    EXPECT_TRUE(gateways_[0].store->read([&](ReadView& view) -> Result<void> {
      SALLYPORT_TRY(blocks, view.indexed_blocks());
      return {};
    }));
    return blocks;
  }

  void wait_for_index(std::uint64_t blocks) {
    for (int i = 0; i < 1200 && indexed() < blocks; ++i) std::this_thread::sleep_for(50ms);
    ASSERT_EQ(indexed(), blocks);
  }

  // Returns the digest of the results of queries of each kind.
  std::string answers() {
    json::object said;
    EXPECT_TRUE(gateways_[0].store->read([&](ReadView& view) -> Result<void> {
      const auto find = [&](const std::string& name, const Filter& filter) -> Result<void> {
        json::array found;
        const auto note = [&](const ledger::StoredEntry& entry, const ledger::EntryView&) {
          found.emplace_back(entry.sequence);
          return Result<bool>(true);
        };
        SALLYPORT_CHECK_OK(find_entries(view, filter, note));
        SALLYPORT_TRY(const auto newest, newest_entries(view, filter, 50));
        for (const ledger::StoredEntry& entry : newest) found.emplace_back(entry.sequence);
        said[name] = std::move(found);
        return {};
      };
      SALLYPORT_CHECK_OK(find("call", {.facets = {{Facet::Call, "call-5"}}}));
      SALLYPORT_CHECK_OK(find("control", {.facets = {{Facet::Kind, "control"}}}));
      SALLYPORT_CHECK_OK(find("no", {.facets = {{Facet::Call, "no"}}}));
      SALLYPORT_CHECK_OK(find("until", {.until = middle_}));
      SALLYPORT_CHECK_OK(find("since", {.since = middle_, .after = 4000, .before = 9000}));
      SALLYPORT_CHECK_OK(find("all", {.after = 8000}));
      SALLYPORT_TRY(const auto entry, view.entry(5000));
      SALLYPORT_TRY(const ledger::EntryView seen, ledger::view_entry(*entry->bytes));
      SALLYPORT_CHECK_OK(find("id", {.id = seen.id}));
      for (const Facet facet : {Facet::Call, Facet::Kind}) {
        SALLYPORT_TRY(const auto counts, count_by(view, facet));
        for (const auto& [value, count] : counts) said["count " + value] = count;
      }
      return {};
    }));
    EXPECT_EQ(said.at("id").as_array().size(), 2u);
    EXPECT_EQ(said.at("call").as_array().size(), 1250u);
    return hex(sha256(json::serialize(said)));
  }

  TempFolder folder_;
  std::string url_;
  core::NoRedactor redactor_;
  SystemClock clock_;
  SystemEntropy entropy_;
  Gateway gateways_[2];
  WallTime middle_{};
};

// SC-23
TEST_F(PostgresqlIndexTest, QueriesSayTheSameWithAndWithoutIndexes) {
  append(4000);
  middle_ = clock_.wall();
  append(4600);
  wait_for_index(2);
  const std::string with = answers();
  // The view of a gateway that queries before they are built.
  for (const int kept : {1, 0}) {
    for (const char* const table : {"blocks", "facets"}) {
      PrivatePostgresql::sql(
          url_, fmt::format("DELETE FROM sallyport.{} WHERE block >= {}", table, kept));
    }
    EXPECT_EQ(indexed(), static_cast<std::uint64_t>(kept));
    EXPECT_EQ(answers(), with);
    EXPECT_EQ(test::verdict(*gateways_[0].store), "ok");
  }
  // A gateway that starts builds the missing ones.
  const Gateway later = gateway();
  const std::string without = answers();
  wait_for_index(2);
  EXPECT_EQ(answers(), without);
  PrivatePostgresql::sql(url_, "DELETE FROM sallyport.facets WHERE block = 1 AND facet = 0");
  EXPECT_NE(test::verdict(*gateways_[0].store), "ok") << "an index that says less is damage";
}

// SC-23
TEST_F(PostgresqlIndexTest, IndexesAreBuiltOutsideTheLock) {
  append(4200);
  wait_for_index(1);
  EXPECT_EQ(PrivatePostgresql::sql(url_,
                                   "SELECT count(*) FROM sallyport.commits c JOIN sallyport.blocks "
                                   "b ON b.xmin = c.xmin"),
            "0")
      << "no commit wrote one";
  PrivatePostgresql::sql(url_, "DELETE FROM sallyport.blocks");
  PrivatePostgresql::sql(url_, "DELETE FROM sallyport.facets");
  // Another gateway holds the lock of the log all the time.
  const auto other = postgresql::Link::open({.url = url_, .hold = 60s});
  ASSERT_TRUE(other);
  ASSERT_TRUE((*other)->run(
      "BEGIN; SELECT pg_advisory_xact_lock(1397772884, (SELECT log FROM sallyport.logs)::int4)"));
  PostgresqlStore& store = *gateways_[0].store;
  Result<ledger::BlockIndex> index = ledger::BlockIndex{};
  ASSERT_TRUE(store.read([&](ReadView& view) -> Result<void> {
    index = ledger::index_block(view, 0);
    return {};
  }));
  ASSERT_TRUE(index);
  for (int twice = 0; twice < 2; ++twice) {
    const auto added = store.add_block_index(*index, "");
    EXPECT_TRUE(added) << added.error().message;
  }
  EXPECT_EQ(indexed(), 1u);
  EXPECT_TRUE(store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const bool same, view.has_block_index(*index));
    EXPECT_TRUE(same);
    return {};
  }));
}

}  // namespace
}  // namespace sallyport::store
