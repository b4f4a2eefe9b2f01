// Every change of a ledger through SQL, without its signing key, is detected, with its place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/entropy.h"
#include "ledger/proof/merkle.h"
#include "ledger/proof/note.h"
#include "support/ledger_checks.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;
using test::verdict;

// A whole block, a tail, topics, a hold and openings; closed, so that SQL finds it unlocked.
class TamperTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kEntries = kBlock + 88;

  void SetUp() override {
    ledger_.open();
    ledger_.append_many(kEntries - 3);
    core::Draft posted = TestLedger::event({{"n", 1}});
    posted.topic = "news";
    ledger_.append(posted);
    reopen();
  }

  void reopen() {
    ledger_.close();
    auto store = store::SqliteStore::open({.file = ledger_.file()});
    ASSERT_TRUE(store) << store.error().message;
    store_ = std::move(*store);
    ASSERT_EQ(verdict(*store_), "ok");
    size_ = test::all_entries(*store_).size();
  }

  std::string after(const std::string& sql) {
    ledger_.sql(sql);
    return verdict(*store_);
  }

  // Returns the verdict, and restores the state from before.
  std::string tried(const std::string& sql, const std::string& table) {
    // The copy is in a separate file, because a foreign table would be found too.
    const std::string aside =
        fmt::format("ATTACH '{}' AS aside; ", (ledger_.folder.path() / "aside.db").string());
    ledger_.sql(fmt::format("{}CREATE TABLE aside.kept AS SELECT * FROM {}", aside, table));
    const std::string found = after(sql);
    ledger_.sql(
        fmt::format("{0}DELETE FROM {1}; INSERT INTO {1} SELECT * FROM aside.kept; "
                    "DROP TABLE aside.kept",
                    aside, table));
    return found;
  }

  TestLedger ledger_;
  std::unique_ptr<store::SqliteStore> store_;
  std::uint64_t size_ = 0;
};

std::string flipped_blob(std::string bytes, std::size_t at) {
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  return "x'" + hex(as_bytes(bytes)) + "'";
}

struct Column {
  std::string name;
  std::string type;
  std::string content;
  std::vector<std::string_view> checks;  // one of them names the flip
};

std::vector<Column> columns_of(const StoredEntry& row) {
  return {{"bytes", "BLOB", *row.bytes, {"entry_bytes", "leaf_hash"}},
          {"leaf", "BLOB", std::string(as_text(row.leaf)), {"leaf_hash"}},
          {"openings", "BLOB", row.openings, {"opening"}},
          {"checkpoint",
           "TEXT",
           row.checkpoint,
           {"checkpoint_signature", "checkpoint_consistency", "root"}}};
}

// LE-48, LE-50
TEST(TamperedRowTest, AFlippedBitInAnyColumnOfAnyEntryIsFoundInItsPlace) {
  TestLedger ledger;
  ledger.open();
  for (int i = 0; i < 5; ++i) ledger.append_many(2);
  const auto entries = test::all_entries(ledger.store());
  for (const test::Seen& seen : entries) {
    for (const Column& column : columns_of(seen.stored)) {
      const std::size_t stride = column.name == "openings" ? 1 : 19;
      for (std::size_t at = 0; at < column.content.size(); at += stride) {
        const auto put = [&](const std::string& value) {
          ledger.sql(fmt::format("UPDATE entries SET {} = CAST({} AS {}) WHERE sequence = {}",
                                 column.name, value, column.type, seen.stored.sequence));
        };
        put(flipped_blob(column.content, at));
        const std::string found = verdict(ledger.store());
        put("x'" + hex(as_bytes(column.content)) + "'");
        const bool named = std::ranges::any_of(column.checks, [&](std::string_view check) {
          return found == fmt::format("{} at {}", check, seen.stored.sequence);
        });
        EXPECT_TRUE(named) << column.name << " byte " << at << " of " << seen.stored.sequence
                           << ": " << found;
      }
    }
  }
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-50
TEST_F(TamperTest, AnAddedByteInAnyColumnIsFoundAsWell) {
  EXPECT_EQ(
      tried("UPDATE entries SET leaf = CAST(leaf || x'00' AS BLOB) WHERE sequence = 40", "entries"),
      "leaf_hash at 40");
  EXPECT_EQ(tried("UPDATE entries SET bytes = CAST(bytes || x'20' AS BLOB) WHERE sequence = 40",
                  "entries"),
            "entry_bytes at 40");
  EXPECT_EQ(
      tried("UPDATE nodes SET hash = CAST(hash || x'00' AS BLOB) WHERE position = 1", "nodes"),
      "node_hash at 511");
}

// LE-50
TEST_F(TamperTest, RemovedInsertedAndSwappedRowsAreFound) {
  EXPECT_EQ(tried("DELETE FROM entries WHERE sequence = 0", "entries"), "missing_sequence at 0");
  EXPECT_EQ(tried("DELETE FROM entries WHERE sequence = 300", "entries"),
            "missing_sequence at 300");
  EXPECT_EQ(tried("DELETE FROM entries WHERE sequence = 300; "
                  "UPDATE entries SET sequence = sequence - 1 WHERE sequence > 300",
                  "entries"),
            "entry_bytes at 300");
  const std::string end = std::to_string(size_);
  EXPECT_EQ(tried("INSERT INTO entries SELECT " + end +
                      ", bytes, leaf, openings, checkpoint, seal FROM entries WHERE sequence = 5",
                  "entries"),
            "entry_bytes at " + end);
  EXPECT_EQ(
      tried("INSERT INTO entries SELECT " + end +
                " + 1, bytes, leaf, openings, checkpoint, seal FROM entries WHERE sequence = 5",
            "entries"),
      "missing_sequence at " + end);
  EXPECT_EQ(
      tried("INSERT INTO entries SELECT -1, bytes, leaf, openings, checkpoint, seal FROM entries "
            "WHERE sequence = 5",
            "entries"),
      "missing_sequence at 0");
  EXPECT_EQ(tried("UPDATE entries SET sequence = -7 WHERE sequence = 20; "
                  "UPDATE entries SET sequence = 20 WHERE sequence = 21; "
                  "UPDATE entries SET sequence = 21 WHERE sequence = -7",
                  "entries"),
            "entry_bytes at 20");
  EXPECT_EQ(verdict(*store_), "ok");
}

// LE-46, LE-50
TEST_F(TamperTest, AnEntryRewrittenWithItsLeafIsFoundByTheSignedRoot) {
  const auto seen = test::all_entries(*store_).at(7).stored;
  std::string forged = *seen.bytes;
  forged.replace(forged.find("call-1"), 6, "call-9");
  const std::string found =
      after(fmt::format("UPDATE entries SET bytes = x'{}', leaf = x'{}' WHERE sequence = 7",
                        hex(as_bytes(forged)), hex(leaf_hash(forged))));
  // The fault is in the node of its block, or in the checkpoint of its commit if that comes first.
  EXPECT_TRUE(found == "node_hash at 255" || found.starts_with("root at ")) << found;
}

// LE-51
TEST_F(TamperTest, ACutTailIsFoundAgainstAKeptCheckpoint) {
  const std::string kept = test::newest_checkpoint(*store_);
  ASSERT_EQ(verdict(*store_, kept), "ok");
  // At the end of a commit the log looks whole by itself.
  const std::string whole_commit = std::to_string(size_ - 1);
  ledger_.sql("DELETE FROM entries WHERE sequence >= " + whole_commit);
  EXPECT_EQ(verdict(*store_), "ok");
  EXPECT_EQ(verdict(*store_, kept), "checkpoint_consistency at " + whole_commit);
  // In the middle of a commit it does not; the topic's number is deleted with its entry.
  EXPECT_EQ(after("DELETE FROM entries WHERE sequence > 530"), "root at 530");
  EXPECT_EQ(after("DELETE FROM entries WHERE sequence > 400"), "root at 400");
  EXPECT_EQ(after("DELETE FROM entries"), "node_hash at 0");
  EXPECT_EQ(after("DELETE FROM nodes; DELETE FROM blocks; DELETE FROM facets"), "storage at 0");
  EXPECT_EQ(after("DELETE FROM facts"), "ok");
  EXPECT_EQ(verdict(*store_, kept), "checkpoint_consistency at 0");
}

// LE-50
TEST_F(TamperTest, ACheckpointOfAnotherKeyIsFound) {
  SystemEntropy entropy;
  const auto last = test::all_entries(*store_).back().stored;
  const Result<Note> note = Note::parse(last.checkpoint);
  ASSERT_TRUE(note);
  const Result<Checkpoint> state = Checkpoint::parse(note->text);
  ASSERT_TRUE(state);
  const SigningKey other = SigningKey::generate(state->origin, entropy);
  const std::string at = std::to_string(last.sequence);
  const auto put = [&](const std::string& checkpoint) {
    return after(
        fmt::format("UPDATE entries SET checkpoint = CAST(x'{}' AS TEXT) "
                    "WHERE sequence = {}",
                    hex(as_bytes(checkpoint)), at));
  };
  const std::string forged = state->sign({&other});
  EXPECT_EQ(put(forged), "checkpoint_signature at " + at);
  // A foreign line beside our own is not ours either.
  EXPECT_EQ(put(last.checkpoint + forged.substr(forged.find("\n\n") + 2)),
            "checkpoint_signature at " + at);
  EXPECT_EQ(put(last.checkpoint), "ok");
  EXPECT_EQ(verdict(*store_, {}, other.verifier()), "checkpoint_signature at 0");
}

// LE-50
TEST_F(TamperTest, AnOlderCheckpointInTheNewestPlaceIsFound) {
  const auto entries = test::all_entries(*store_);
  EXPECT_EQ(after(fmt::format("UPDATE entries SET checkpoint = (SELECT checkpoint FROM entries "
                              "WHERE sequence = {}) WHERE sequence = {}",
                              size_ - 2, size_ - 1)),
            fmt::format("checkpoint_consistency at {}", size_ - 1));
  EXPECT_EQ(
      after(fmt::format("UPDATE entries SET checkpoint = NULL WHERE sequence = {}", size_ - 1)),
      fmt::format("root at {}", size_ - 1));
}

// LE-48
TEST_F(TamperTest, EditedNodesBlocksAndFacetsAreFound) {
  EXPECT_EQ(tried("UPDATE nodes SET hash = zeroblob(32) WHERE position = 0", "nodes"),
            "node_hash at 255");
  EXPECT_EQ(tried("DELETE FROM nodes WHERE position = 1", "nodes"), "node_hash at 511");
  EXPECT_EQ(tried("INSERT INTO nodes VALUES (1, 16, zeroblob(32))", "nodes"),
            "node_hash at " + std::to_string(size_));
  EXPECT_EQ(tried("INSERT INTO nodes VALUES (2, 0, zeroblob(32))", "nodes"),
            "node_hash at " + std::to_string(size_));
  for (const char* const column : {"first_time", "last_time"}) {
    EXPECT_EQ(
        tried(fmt::format("UPDATE blocks SET {0} = {0} + 1 WHERE block = 0", column), "blocks"),
        "storage at 4095");
  }
  for (const char* const column : {"least_id", "greatest_id"}) {
    EXPECT_EQ(
        tried(fmt::format("UPDATE blocks SET {} = zeroblob(16) WHERE block = 0", column), "blocks"),
        "storage at 4095");
  }
  EXPECT_EQ(tried("DELETE FROM blocks WHERE block = 0", "blocks"), "storage at 4095");
  EXPECT_EQ(tried("INSERT INTO blocks VALUES (9, 1, 1, x'00', x'00', NULL)", "blocks"),
            "storage at " + std::to_string(size_));
  EXPECT_EQ(tried("UPDATE facets SET count = count + 1 WHERE value = 'call-300'", "facets"),
            "storage at 4095");
  EXPECT_EQ(tried("DELETE FROM facets WHERE value = 'call-300'", "facets"), "storage at 4095");
  EXPECT_EQ(tried("INSERT INTO facets VALUES (0, 'call-x', 0, 1)", "facets"),
            "storage at " + std::to_string(size_));
  EXPECT_EQ(verdict(*store_), "ok");
}

// LE-46
TEST_F(TamperTest, FactsThatDisagreeWithTheLogAreFound) {
  const std::string end = "storage at " + std::to_string(size_);
  EXPECT_EQ(tried("UPDATE facts SET value = '7' WHERE space = 'topic'", "facts"), end);
  EXPECT_EQ(tried("DELETE FROM facts WHERE space = 'topic'", "facts"), end);
  EXPECT_EQ(tried("INSERT INTO facts VALUES ('hold', 'h', '{}')", "facts"), end);
  EXPECT_EQ(tried("UPDATE facts SET value = value || 'x' WHERE key = 'key'", "facts"), end);
  EXPECT_EQ(verdict(*store_), "ok");
}

// LE-48, LE-50
TEST_F(TamperTest, EditedAndMissingOpeningsAreFound) {
  const Result<std::vector<Opening>> kept =
      unpack_openings(test::all_entries(*store_).at(33).stored.openings);
  ASSERT_TRUE(kept);
  ASSERT_EQ(kept->size(), 1u);
  const auto put = [&](const std::vector<Opening>& openings) {
    return tried(fmt::format("UPDATE entries SET openings = x'{}' WHERE sequence = 33",
                             hex(as_bytes(pack_openings(openings)))),
                 "entries");
  };
  const auto edited = [&](auto&& edit) {
    Opening opening = kept->front();
    edit(opening);
    return put({opening});
  };
  EXPECT_EQ(put(*kept), "ok");
  EXPECT_EQ(edited([](Opening& o) { o.value = "\"other\""; }), "opening at 33");
  EXPECT_EQ(edited([](Opening& o) { o.salt[7] ^= 1; }), "opening at 33");
  EXPECT_EQ(edited([](Opening& o) { o.path = "/body/n"; }), "opening at 33");
  EXPECT_EQ(edited([](Opening& o) { o.form = Form::Raw; }), "opening at 33");
  // Looks like an erasure that was never recorded.
  EXPECT_EQ(edited([](Opening& o) { o.state = OpeningState::Erased; }), "opening at 33");
  EXPECT_EQ(put({kept->front(), kept->front()}), "opening at 33");
  EXPECT_EQ(put({}), "opening at 33");
  EXPECT_EQ(tried("UPDATE entries SET openings = NULL WHERE sequence = 33", "entries"),
            "opening at 33");
  EXPECT_EQ(tried("UPDATE entries SET openings = (SELECT openings FROM entries WHERE "
                  "sequence = 34) WHERE sequence = 33",
                  "entries"),
            "opening at 33");
}

// LE-50
TEST_F(TamperTest, BytesTakenAwayWithoutAPrunedEntryAreFound) {
  EXPECT_EQ(
      tried("UPDATE entries SET bytes = NULL, openings = NULL WHERE sequence = 33", "entries"),
      "entry_bytes at 33");
}

// LE-54: the next honest commit must not sign a forged entry.
TEST_F(TamperTest, AnEntryPutInBehindARunningLedgerIsNotBuiltOn) {
  ledger_.open();
  const auto last = test::all_entries(ledger_.store()).back().stored;
  std::string forged = *last.bytes;
  const std::string place = fmt::format("\"sequence\":{}", last.sequence);
  forged.replace(forged.find(place), place.size(),
                 fmt::format("\"sequence\":{}", last.sequence + 1));
  Result<void> read = ledger_.store().read([&](ReadView& view) -> Result<void> {
    Edge edge;
    auto leaves = view.leaves(0, last.sequence + 1);
    for (const Hash& leaf : *leaves) edge.append(leaf);
    edge.append(leaf_hash(forged));
    SystemEntropy entropy;
    const SigningKey other = SigningKey::generate(ledger_->origin(), entropy);
    const Checkpoint state{ledger_->origin(), edge.size(), edge.root()};
    ledger_.sql(fmt::format("INSERT INTO entries VALUES ({}, x'{}', x'{}', NULL, '{}', NULL)",
                            last.sequence + 1, hex(as_bytes(forged)), hex(leaf_hash(forged)),
                            state.sign({&other})));
    return {};
  });
  ASSERT_TRUE(read);
  std::vector<core::Draft> drafts = {TestLedger::event({{"n", 1}})};
  const auto refused = ledger_->append_blocking(drafts, core::Urgency::Announces);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, "corrupt");
  EXPECT_EQ(ledger_->health().cause, "corrupt");
}

// LE-54: damage that has been repaired is still damage until a person has acknowledged it.
TEST_F(TamperTest, DamageFoundWhileRunningMakesTheLedgerReadOnly) {
  ledger_.open();
  ledger_.sql(
      "CREATE TABLE kept AS SELECT * FROM entries ORDER BY sequence DESC LIMIT 1; "
      "DELETE FROM entries WHERE sequence = (SELECT MAX(sequence) FROM entries)");
  for (const core::Urgency urgency : {core::Urgency::Announces, core::Urgency::Reports}) {
    std::vector<core::Draft> drafts = {TestLedger::event({{"n", 1}})};
    const auto refused = ledger_->append_blocking(drafts, urgency);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Corrupt);
    EXPECT_EQ(refused.error().cause, "corrupt");
    ledger_.sql("INSERT INTO entries SELECT * FROM kept; DELETE FROM kept");
  }
  EXPECT_FALSE(ledger_->health().ok);
  ledger_.sql("DROP TABLE kept");
  const std::uint64_t size = test::all_entries(ledger_.store()).size();
  ledger_.close();
  ledger_.open();
  EXPECT_TRUE(ledger_->health().ok);
  // Only `gap` and `started`: nothing was written meanwhile, not even `stopped`.
  EXPECT_EQ(test::all_entries(ledger_.store()).size(), size + 2);
}

}  // namespace
}  // namespace sallyport::ledger
