#include "ledger/copy_ledger.h"

#include <gtest/gtest.h>

#include "base/try.h"
#include "ledger/proof/verify.h"
#include "ledger/secret/key_folder.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;

class CopyLedgerTest : public testing::Test {
 protected:
  void SetUp() override {
    ledger_.open();
    copy_ = std::move(*store::SqliteStore::open({.file = ledger_.folder / "copy.db"}));
  }
  std::uint64_t size_of(LedgerStore& store) {
    std::uint64_t size = 0;
    EXPECT_TRUE(store.read([&](ReadView& view) -> Result<void> {
      SALLYPORT_TRY(size, view.size());
      return {};
    }));
    return size;
  }
  // Every hash, signature and seal of the copy.
  std::string verdict() {
    const KeyedDigest secret(KeyFolder::kept_digest_key(ledger_.folder.path())->value());
    const LedgerReport report = verify_ledger(*copy_, {}, {}, 2, &secret);
    return report.ok ? "ok" : report.first_bad->check + ": " + report.first_bad->detail;
  }

  TestLedger ledger_;
  std::unique_ptr<store::SqliteStore> copy_;
};

// SC-4 (partly)
TEST_F(CopyLedgerTest, ACopyIsCompleteAndIsContinuedWhereItEnds) {
  core::Draft draft = TestLedger::event({{"n", 1}});
  draft.facts.push_back({"approval", "a", "used"});
  ledger_.append(std::move(draft));
  ledger_.append_many(kTile - size_of(ledger_.store()));
  EXPECT_EQ(copy_ledger(ledger_.store(), *copy_), kTile) << "a commit that fills a tile";
  EXPECT_EQ(verdict(), "ok");
  for (int i = 0; i < 2; ++i) {
    for (int many = 0; many < 3; ++many) ledger_.append_many(1400);
    EXPECT_EQ(copy_ledger(ledger_.store(), *copy_), size_of(ledger_.store()));
    EXPECT_EQ(size_of(*copy_), size_of(ledger_.store()));
    EXPECT_EQ(verdict(), "ok");
  }
  EXPECT_EQ(copy_ledger(ledger_.store(), *copy_), size_of(*copy_)) << "nothing is left to copy";
}

TEST_F(CopyLedgerTest, AnotherLogIsNotWrittenOver) {
  ASSERT_TRUE(copy_ledger(ledger_.store(), *copy_));
  const std::uint64_t size = size_of(*copy_);
  TestLedger other;
  other.open();
  other.append_many(10);
  EXPECT_EQ(copy_ledger(other.store(), *copy_).error().code, ErrorCode::Conflict);
  ledger_.append_many(1);
  EXPECT_EQ(copy_ledger(*copy_, ledger_.store()).error().code, ErrorCode::Conflict)
      << "the log there has more";
  EXPECT_EQ(size_of(*copy_), size);
}

TEST_F(CopyLedgerTest, ALogSaysWhereItWent) {
  const auto where = [&] {
    std::optional<std::string> to;
    EXPECT_TRUE(ledger_.store().read([&](ReadView& view) -> Result<void> {
      SALLYPORT_TRY(to, moved_to(view));
      return {};
    }));
    return to;
  };
  EXPECT_EQ(where(), std::nullopt);
  ledger_.append(moved("postgresql://there", "ops"));
  EXPECT_EQ(where(), "postgresql://there");
}

}  // namespace
}  // namespace sallyport::ledger
