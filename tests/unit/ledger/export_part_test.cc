#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "ledger/maintenance.h"
#include "ledger/proof/verify.h"
#include "ledger/read/export.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;
using testing::HasSubstr;
using testing::Not;

struct Part {
  std::vector<std::string> lines;
  std::size_t entries() const { return lines.size() - 1; }
  std::uint64_t size() const {
    const json::value line = json::parse(lines.back());
    return Checkpoint::parse(Note::parse(line.at("checkpoint").as_string())->text)->size;
  }
};

Part part_of(TestLedger& ledger, const ExportPart& wanted) {
  Part part;
  const Result<void> done = ledger.store().read([&](ReadView& view) {
    return export_part(view, wanted, [&](std::string_view line) -> Result<void> {
      part.lines.emplace_back(line);
      return {};
    });
  });
  EXPECT_TRUE(done) << done.error().message;
  return part;
}

class ExportPartTest : public testing::Test {
 protected:
  void SetUp() override { ledger_.open(); }

  TestLedger ledger_;
};

// LE-64
TEST_F(ExportPartTest, APartEndsBehindTheCommitThatReachesItsBounds) {
  const std::uint64_t first = ledger_.append_many(10).back().sequence + 1;
  const std::uint64_t second = ledger_.append_many(10).back().sequence + 1;
  const auto ends_at = [&](const ExportPart& wanted) {
    const Part part = part_of(ledger_, wanted);
    EXPECT_EQ(part.entries(), part.size() - (wanted.after ? *wanted.after + 1 : 0));
    return part.size();
  };
  constexpr std::size_t kMany = 1u << 20;
  const std::uint64_t started = ends_at({.entries = 1, .bytes = kMany});
  EXPECT_LT(started, first);
  EXPECT_EQ(ends_at({.entries = started, .bytes = kMany}), started);
  EXPECT_EQ(ends_at({.entries = started + 1, .bytes = kMany}), first);
  EXPECT_EQ(ends_at({.entries = first, .bytes = kMany}), first);
  EXPECT_EQ(ends_at({.entries = first + 1, .bytes = kMany}), second);
  EXPECT_EQ(ends_at({.entries = kMany, .bytes = kMany}), second);
  EXPECT_EQ(ends_at({.entries = kMany, .bytes = 1}), started);
  EXPECT_EQ(ends_at({.after = started - 1, .entries = 1, .bytes = kMany}), first);

  std::size_t bytes = 0;
  const Part whole = part_of(ledger_, {.entries = kMany, .bytes = kMany});
  for (std::size_t i = 0; i < first; ++i) bytes += whole.lines[i].size();
  EXPECT_EQ(ends_at({.entries = kMany, .bytes = bytes}), first);
  EXPECT_EQ(ends_at({.entries = kMany, .bytes = bytes + 1}), second);
}

// LE-64, LE-67
TEST_F(ExportPartTest, BehindTheEndThereIsTheNewestCheckpointAlone) {
  const std::uint64_t size = ledger_.append_many(3).back().sequence + 1;
  for (const std::uint64_t after : {size - 1, size, size + 7, UINT64_MAX}) {
    const Part part = part_of(ledger_, {.after = after, .entries = 9, .bytes = 9999});
    EXPECT_EQ(part.entries(), 0u) << after;
    EXPECT_EQ(part.size(), size) << after;
  }
  EXPECT_EQ(part_of(ledger_, {.after = size - 2, .entries = 9, .bytes = 9999}).entries(), 1u);
}

// LE-27, LE-64: both keys signed only that checkpoint.
TEST_F(ExportPartTest, APartEndsWithTheCheckpointOfARotation) {
  ASSERT_TRUE(ledger_->rotate_key(false));
  ledger_.append_many(3);
  const Part part = part_of(ledger_, {.entries = 1000, .bytes = 1u << 20});
  EXPECT_THAT(part.lines[part.entries() - 1], HasSubstr(R"("control":"key_rotated")"));
  const Part rest =
      part_of(ledger_, {.after = part.size() - 1, .entries = 1000, .bytes = 1u << 20});
  EXPECT_EQ(rest.entries(), 3u);
}

// LE-64
TEST_F(ExportPartTest, OpeningsAreShownWhereTheyAreWantedAndWholeAndPrunedEntriesAreLeaves) {
  ledger_.append(TestLedger::event({{"text", "a thing to read"}}));
  const auto text = [&](bool with_openings) {
    std::string all;
    for (const std::string& line :
         part_of(ledger_, {.entries = 1000, .bytes = 1u << 20, .with_openings = with_openings})
             .lines) {
      all += line + "\n";
    }
    return all;
  };
  EXPECT_THAT(text(true), HasSubstr("a thing to read"));
  EXPECT_THAT(text(false), Not(HasSubstr("a thing to read")));
  ledger_.sql("UPDATE entries SET openings = x'00' WHERE sequence = 2");
  EXPECT_THAT(text(true), Not(HasSubstr("a thing to read"))) << "the entry itself is still shown";
  EXPECT_THAT(text(true), HasSubstr(R"("kind":"event")"));
}

// LE-60, LE-64
TEST_F(ExportPartTest, OneEntryIsALineWithoutOpeningsOrALeaf) {
  ledger_.append(TestLedger::event({{"text", "a thing to read"}}));
  const auto line = [&] {
    std::string text;
    EXPECT_TRUE(ledger_.store().read([&](ReadView& view) -> Result<void> {
      text = sealed_line(**view.entry(2)).value();
      return {};
    }));
    return text;
  };
  EXPECT_THAT(line(), testing::StartsWith(R"({"entry":{"body":{"text":{"$sealed":)"));
  EXPECT_THAT(line(), testing::EndsWith(R"(,"openings":[]})"));
  ASSERT_TRUE(ledger_->transact(prune(3, "ops", "old")));
  EXPECT_THAT(line(), testing::MatchesRegex(R"(\{"leaf":"[^"]{44}","sequence":2\})"));
  const Part part = part_of(ledger_, {.entries = 1000, .bytes = 1u << 20, .with_openings = true});
  EXPECT_EQ(part.lines[2], line());
}

TEST(EmptyExportPartTest, AnEmptyLedgerHasNoPart) {
  auto store = store::SqliteStore::in_memory();
  ASSERT_TRUE(store);
  const Result<void> done = (*store)->read([](ReadView& view) {
    return export_part(view, {}, [](std::string_view) -> Result<void> { return {}; });
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace sallyport::ledger
