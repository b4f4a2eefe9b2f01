// The ledger's requirements for every store.
#include <gtest/gtest.h>

#include <set>

#include "base/try.h"
#include "ledger/proof/merkle.h"
#include "ledger/read/export.h"
#include "ledger/read/query.h"
#include "support/call_history_parts.h"
#include "support/ledger_checks.h"
#include "support/store_kinds.h"
#include "support/test_clock.h"

namespace sallyport::store {
namespace {

using ledger::LedgerStore;
using ledger::ReadView;
using ledger::StoredEntry;
using ledger::WriteView;
using test::StoreKind;
using test::StorePlace;
using test::TempFolder;
using test::TestLedger;

StoredEntry entry(std::uint64_t sequence, const std::string& bytes) {
  return {sequence, bytes, ledger::leaf_hash(bytes), "openings", "checkpoint"};
}

std::uint64_t size_of(LedgerStore& store) {
  std::uint64_t size = 0;
  EXPECT_TRUE(store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(size, view.size());
    return {};
  }));
  return size;
}

class StoreConformanceTest : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (!test::can_open(GetParam())) GTEST_SKIP() << "postgresql is not installed";
    place_.emplace(GetParam(), folder_.path());
    auto opened = place_->open();
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }

  std::unique_ptr<ledger::Ledger> open_ledger(std::uint64_t seed = 1) {
    entropy_ = std::make_unique<test::SeededEntropy>(seed);
    auto opened =
        ledger::Ledger::open({*store_, redactor_, clock_, *entropy_},
                             {.data_folder = folder_ / "data", .reserve_bytes = 64 * 1024});
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }

  static void append(ledger::Ledger& ledger, int count) {
    std::vector<core::Draft> drafts;
    for (int n = 0; n < count; ++n) {
      drafts.push_back(
          TestLedger::event({{"n", n}, {"text", "entry"}}, fmt::format("call-{}", n / 4)));
    }
    const auto written = ledger.append_blocking(std::move(drafts), core::Urgency::Announces);
    ASSERT_TRUE(written) << written.error().message;
  }

  TempFolder folder_;
  core::NoRedactor redactor_;
  test::TestClock clock_;
  std::unique_ptr<Entropy> entropy_;
  std::optional<StorePlace> place_;
  std::unique_ptr<LedgerStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformanceTest,
                         testing::Values(StoreKind::File, StoreKind::Memory, StoreKind::PostgreSql),
                         [](const auto& info) { return test::name_of(info.param); });

// SC-2
TEST_P(StoreConformanceTest, WorkThatFailsChangesNothing) {
  ASSERT_TRUE(store_->write([](WriteView& view) { return view.insert(entry(0, "a")); }));
  const Result<void> failed = store_->write([](WriteView& view) -> Result<void> {
    SALLYPORT_CHECK_OK(view.insert(entry(1, "b")));
    SALLYPORT_CHECK_OK(view.put_fact({"space", "key", "value"}));
    return fail(ErrorCode::InvalidInput, "no");
  });
  EXPECT_EQ(failed.error().message, "no");
  EXPECT_EQ(size_of(*store_), 1u);
  EXPECT_FALSE(store_->write([](WriteView& view) { return view.insert(entry(0, "again")); }))
      << "an entry is never overwritten";
  ASSERT_TRUE(store_->write([](WriteView& view) { return view.insert(entry(1, "b")); }));
  EXPECT_EQ(size_of(*store_), 2u);
  EXPECT_TRUE(store_->scrub());
  EXPECT_TRUE(store_->check_files());
}

// LE-63
TEST_P(StoreConformanceTest, AReaderSeesOneStateWhileAWriterGoesOn) {
  if (GetParam() == StoreKind::Memory) GTEST_SKIP() << "it has one connection";
  ASSERT_TRUE(store_->write([](WriteView& view) { return view.insert(entry(0, "a")); }));
  ASSERT_TRUE(store_->read([&](ReadView& view) -> Result<void> {
    EXPECT_EQ(*view.size(), 1u);
    EXPECT_TRUE(store_->write([](WriteView& write) { return write.insert(entry(1, "b")); }));
    EXPECT_EQ(*view.size(), 1u);
    EXPECT_FALSE(*view.entry(1));
    EXPECT_EQ(size_of(*store_), 2u) << "another reader begins later";
    return {};
  }));
}

TEST_P(StoreConformanceTest, ATransactionReadsWhatItHasWritten) {
  const std::string odd("a\0\xff", 3);
  ASSERT_TRUE(store_->write([&](WriteView& view) -> Result<void> {
    SALLYPORT_CHECK_OK(view.insert(entry(0, "a")));
    SALLYPORT_CHECK_OK(view.put_fact({"space", "kept", "1"}));
    return view.put_fact({"space", "gone", "1"});
  }));
  ASSERT_TRUE(store_->write([&](WriteView& view) -> Result<void> {
    SALLYPORT_CHECK_OK(view.put_fact({"space", "gone", std::nullopt}));
    SALLYPORT_CHECK_OK(view.put_fact({"space", odd, odd}));
    EXPECT_EQ(*view.fact("space", "gone"), std::nullopt);
    EXPECT_EQ(*view.fact("space", odd), odd);
    EXPECT_EQ(view.facts("space")->size(), 2u);
    std::set<std::string> seen;
    SALLYPORT_CHECK_OK(view.scan_facts([&](const core::Fact& fact) -> Result<void> {
      seen.insert(fact.key);
      return {};
    }));
    EXPECT_EQ(seen, (std::set<std::string>{"kept", odd}));
    EXPECT_EQ(view.changed_facts().size(), 2u);
    SALLYPORT_CHECK_OK(view.insert(entry(1, "b")));
    SALLYPORT_CHECK_OK(view.put_node(1, 0, ledger::leaf_hash("node")));
    EXPECT_EQ(*view.size(), 2u);
    EXPECT_EQ((*view.entry(1))->bytes, "b");
    EXPECT_EQ(view.leaves(0, 2)->size(), 2u);
    EXPECT_EQ(view.nodes(1, 0, 1)->size(), 1u);
    return {};
  }));
  ASSERT_TRUE(store_->read([&](ReadView& view) -> Result<void> {
    EXPECT_EQ(*view.fact("space", odd), odd);
    EXPECT_EQ(view.facts("space")->front().key, odd) << "in the order of bytes";
    EXPECT_EQ((*view.leaves(1, 2)).at(0), ledger::leaf_hash("b"));
    EXPECT_TRUE(*view.has_more_facts_than(1));
    EXPECT_FALSE(*view.has_more_facts_than(2));
    EXPECT_EQ(view.head()->checkpoint, "checkpoint");
    EXPECT_EQ(view.rows()->strays, 0u);
    return {};
  }));
}

TEST_P(StoreConformanceTest, OpeningsAndBytesCanBeTakenAway) {
  ASSERT_TRUE(store_->write([](WriteView& view) { return view.insert(entry(0, "a")); }));
  ASSERT_TRUE(store_->write([](WriteView& view) { return view.insert(entry(1, "b")); }));
  ASSERT_TRUE(store_->write([](WriteView& view) -> Result<void> {
    SALLYPORT_CHECK_OK(view.replace_openings(1, ""));
    SALLYPORT_CHECK_OK(view.replace_seal(1, "seal"));
    EXPECT_EQ((*view.entry(1))->openings, "");
    return view.drop_bytes(0, 1);
  }));
  ASSERT_TRUE(store_->read([](ReadView& view) -> Result<void> {
    EXPECT_FALSE((*view.entry(0))->bytes);
    EXPECT_EQ((*view.entry(0))->leaf, ledger::leaf_hash("a")) << "the hash stays";
    EXPECT_EQ((*view.entry(1))->openings, "");
    EXPECT_EQ((*view.entry(1))->seal, "seal");
    EXPECT_EQ(view.head()->seal, "seal");
    return {};
  }));
}

// LE-45
TEST_P(StoreConformanceTest, ALedgerGrowsOverTilesAndBlocksIsReadAgainAndVerifies) {
  auto ledger = open_ledger();
  ASSERT_TRUE(ledger);
  for (const int count : {1, 2000, 300, 1900, 1}) append(*ledger, count);
  EXPECT_EQ(test::verdict(*store_), "ok");
  if (GetParam() != StoreKind::Memory) {
    ledger.reset();
    store_.reset();
    store_ = *place_->open();
    ledger = open_ledger(2);
    ASSERT_TRUE(ledger);
    append(*ledger, 3);
    EXPECT_EQ(test::verdict(*store_), "ok");
  }
  std::vector<std::uint64_t> found;
  ASSERT_TRUE(store_->read([&](ReadView& view) {
    const ledger::Filter filter{.facets = {{ledger::Facet::Call, "call-7"}}};
    return ledger::find_entries(view, filter,
                                [&](const StoredEntry& stored, const auto&) -> Result<bool> {
                                  found.push_back(stored.sequence);
                                  return true;
                                });
  }));
  EXPECT_EQ(found.size(), 12u) << "of each batch that is long enough, in the index and behind it";
}

// Returns all exports of a ledger, for one kind of store.
std::vector<std::string> all_bytes(StoreKind kind) {
  const TempFolder folder;
  StorePlace place(kind, folder.path());
  const core::NoRedactor redactor;
  const test::TestClock clock;
  test::SeededEntropy entropy(7);
  const auto store = *place.open();
  std::vector<std::string> out;
  {
    auto ledger =
        ledger::Ledger::open({*store, redactor, clock, entropy},
                             {.data_folder = folder / "data", .reserve_bytes = 64 * 1024});
    EXPECT_TRUE(ledger) << ledger.error().message;
    for (const int count : {1, 700, 2}) {
      std::vector<core::Draft> drafts;
      for (int n = 0; n < count; ++n) {
        drafts.push_back(TestLedger::event({{"n", n}, {"text", "entry"}}, "call"));
        drafts.back().facts.push_back({"seen", std::to_string(n), "x", true});
        drafts.back().topic = "numbers";
      }
      EXPECT_TRUE((*ledger)->append_blocking(std::move(drafts), core::Urgency::Announces));
    }
    EXPECT_TRUE((*ledger)->rotate_key(false));
  }
  for (const test::Seen& seen : test::all_entries(*store)) {
    // Without the seal: it also covers the facts, and a shared log has one more fact, its database.
    out.push_back(*seen.stored.bytes + seen.stored.openings + seen.stored.checkpoint);
  }
  for (const std::uint64_t at : {0, 5, 300, 702}) out.push_back(test::receipt_of(*store, at));
  EXPECT_TRUE(store->read([&](ReadView& view) {
    return ledger::export_json_lines(view, std::nullopt,
                                     [&](std::string_view line) -> Result<void> {
                                       out.emplace_back(line);
                                       return {};
                                     });
  }));
  return out;
}

// SC-3, SC-52 (partly)
TEST(StoreConformance, TheSameDraftsGiveTheSameBytesInEveryStore) {
  const std::vector<std::string> in_file = all_bytes(StoreKind::File);
  ASSERT_GT(in_file.size(), 1400u);
  EXPECT_EQ(all_bytes(StoreKind::Memory), in_file);
  if (!test::can_open(StoreKind::PostgreSql)) GTEST_SKIP() << "postgresql is not installed";
  EXPECT_EQ(all_bytes(StoreKind::PostgreSql), in_file);
}

}  // namespace
}  // namespace sallyport::store
