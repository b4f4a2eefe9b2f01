#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <future>
#include <thread>

#include "sessions/memory_query.h"
#include "store_on_disk.h"

namespace sallyport::sessions {
namespace {

using ::testing::ElementsAre;

class Memory : public StoreOnDisk {
 protected:
  void remember(const std::string& id, const std::string& text,
                const std::string& agent = "writer") {
    ASSERT_TRUE(store_->pin({.id = id, .agent_id = agent, .text = text}));
  }
  std::vector<std::string> found(const std::string& query, std::size_t limit = 10) {
    const auto records = store_->search("writer", query, limit, 5s, {});
    EXPECT_TRUE(records) << query << ": " << (records ? "" : records.error().message);
    std::vector<std::string> ids;
    if (records) {
      for (const MemoryRecord& record : *records) ids.push_back(record.id);
    }
    return ids;
  }
};

// RT-54
TEST_F(Memory, WordsAreQuotedAndJoinedByOr) {
  EXPECT_EQ(memory_query("fix the \"build\"  fix"), R"("fix" OR "the" OR """build""")");
  EXPECT_EQ(memory_query(std::string("a\0b\tc", 5)), R"("a" OR "b" OR "c")");
  EXPECT_EQ(memory_query(" * \" ( - \n"), "");
  EXPECT_EQ(memory_query(""), "");
}

TEST_F(Memory, AQueryHasABoundInWordsAndBytes) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "w" + std::to_string(i) + " ";
  const std::string query = memory_query(many);
  EXPECT_TRUE(query.ends_with("\"w63\""));
  EXPECT_EQ(memory_query(std::string(1000, 'x')), "\"" + std::string(kQueryWordBytes, 'x') + "\"");
}

// RT-54
TEST_F(Memory, TheBestRankComesFirstAndTheNewerOnATie) {
  remember("pin:old", "deploy the service with care");
  clock_.advance(1s);
  remember("pin:new", "deploy the service with care");
  clock_.advance(1s);
  remember("pin:both", "deploy rollback deploy rollback");
  remember("pin:none", "nothing of the kind");
  for (int i = 0; i < 5; ++i) remember("pin:fill" + std::to_string(i), "filler text about lunch");
  EXPECT_THAT(found("deploy rollback"), ElementsAre("pin:both", "pin:new", "pin:old"));
  EXPECT_THAT(found("deploy rollback", 1), ElementsAre("pin:both"));
  EXPECT_THAT(found("Rollbäck"), ElementsAre("pin:both"));  // case and accents do not matter
  EXPECT_TRUE(found("deploy", 0).empty());
}

// RT-54: a tie of the same moment goes by the order of storing.
TEST_F(Memory, RecordsOfTheSameMomentAreOrderedByTheirStoring) {
  for (const char* id : {"pin:1", "pin:2", "pin:3"}) remember(id, "same words");
  EXPECT_THAT(found("words"), ElementsAre("pin:3", "pin:2", "pin:1"));
}

// RT-54
TEST_F(Memory, NoTextOfAQueryChangesTheQuery) {
  remember("pin:1", "alpha beta");
  remember("pin:2", "gamma");
  for (const std::string& query :
       {std::string("\" OR 1"), std::string("NEAR("), std::string("NEAR(alpha beta, 2)"),
        std::string("*"), std::string("text:zzz"), std::string("^"), std::string("zzz NOT gamma"),
        std::string("{text} : zzz"), std::string("zz\0 gamm", 8), std::string("🦀"),
        std::string("zzz\" OR \"gamma\" --"), std::string("'; DROP TABLE memory; --"),
        std::string("\"\"\""), std::string("a*"), std::string("gam*"), std::string("- + ( )")}) {
    const std::vector<std::string> ids = found(query);
    EXPECT_LE(ids.size(), 1u) << query;
  }
  // Text that looks like an operator is a word, and finds only texts that contain it.
  EXPECT_TRUE(found("NOT OR AND NEAR").empty());
  EXPECT_TRUE(found("gam*").empty());
  EXPECT_TRUE(found("text:alpha").empty());  // the phrase `text alpha`
  EXPECT_THAT(found("zzz NOT gamma"), ElementsAre("pin:2"));
  EXPECT_THAT(found("\"alpha"), ElementsAre("pin:1"));
}

// RT-55
TEST_F(Memory, OnlyRecordsOfTheSameAgentAreFound) {
  remember("pin:1", "the secret of the reader", "reader");
  remember("pin:2", "the secret of the writer");
  EXPECT_THAT(found("secret reader"), ElementsAre("pin:2"));
  EXPECT_FALSE(*store_->forget("writer", "pin:1"));
  EXPECT_EQ(store_->search("reader", "secret", 10, 5s, {})->size(), 1u);
}

TEST_F(Memory, AForgottenRecordIsFoundNoMore) {
  remember("pin:1", "old plan");
  remember("pin:2", "new plan");
  EXPECT_TRUE(*store_->forget("writer", "pin:1"));
  EXPECT_FALSE(*store_->forget("writer", "pin:1"));
  EXPECT_THAT(found("plan"), ElementsAre("pin:2"));
  EXPECT_TRUE(found("old").empty());
}

TEST_F(Memory, PinsAreBoundedAndTheirIdsUnique) {
  remember("pin:0", "x");
  EXPECT_EQ(code_of(store_->pin({.id = "pin:0", .agent_id = "writer", .text = "y"})),
            ErrorCode::Conflict);
  EXPECT_EQ(code_of(store_->pin({.id = "pin:1", .agent_id = "writer", .text = "\xff"})),
            ErrorCode::InvalidInput);
  const std::string long_text(kMemoryBytes + 1, 'x');
  EXPECT_EQ(code_of(store_->pin({.id = "pin:1", .agent_id = "writer", .text = long_text})),
            ErrorCode::Exhausted);
}

// RT-60
TEST_F(Memory, ARepeatedIngestStoresNothingAndSucceeds) {
  ASSERT_TRUE(store_->append(lease(), std::vector{text_item("x")}));
  const MemoryRecord record{.id = "episode:writer:s-1:1", .agent_id = "writer", .text = "we met"};
  EXPECT_EQ(*store_->ingested_revision("s-1"), 0u);
  EXPECT_EQ(*store_->ingest("s-1", 1, record), 1u);
  EXPECT_EQ(*store_->ingest("s-1", 1, record), 0u);
  EXPECT_EQ(*store_->ingested_revision("s-1"), 1u);
  store_.reset();
  store_ = open();
  EXPECT_EQ(*store_->ingest("s-1", 1, record), 0u);
  EXPECT_EQ(*store_->ingest("s-1", 3, {.id = "episode:writer:s-1:3", .agent_id = "writer"}), 1u);
  EXPECT_EQ(*store_->ingest("s-1", 2, {.id = "episode:writer:s-1:2", .agent_id = "writer"}), 0u);
  EXPECT_THAT(found("met"), ElementsAre("episode:writer:s-1:1"));
  // A forgotten record does not come back by the same ingest.
  ASSERT_TRUE(*store_->forget("writer", record.id));
  EXPECT_EQ(*store_->ingest("s-1", 1, record), 0u);
  EXPECT_EQ(code_of(store_->ingest("none", 1, record)), ErrorCode::NotFound);
}

// Adds many records directly, because the store would be too slow for a test.
class LargeMemory : public Memory {
 protected:
  void SetUp() override {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &db), SQLITE_OK);
    const char* const sql = R"sql(
      PRAGMA synchronous=OFF;
      BEGIN;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO memory (id, agent, text, pinned, created_at)
        SELECT 'episode:' || i, 'writer', 'alpha beta gamma delta epsilon zeta eta theta ' || i, 0,
               '2025-11-15T02:00:00.000000Z' FROM n;
      INSERT INTO memory_words (memory_words) VALUES ('rebuild');
      COMMIT;
    )sql";
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(db);
  }
  const std::string all_ = "alpha beta gamma delta epsilon zeta eta theta";
};

// RT-58
TEST_F(LargeMemory, ASearchOverItsTimeIsReallyInterrupted) {
  const auto begin = std::chrono::steady_clock::now();
  const auto result = store_->search("writer", all_, 3, 20ms, {});
  const auto took = std::chrono::steady_clock::now() - begin;
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Deadline);
  EXPECT_LT(took, 250ms);
  // The same connection serves the next search.
  const auto next = store_->search("writer", "99999", 3, 5s, {});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->at(0).id, "episode:99999");
}

// RT-74
TEST_F(LargeMemory, ASearchIsCancelledInItsMiddle) {
  std::stop_source stop;
  const auto begin = std::chrono::steady_clock::now();
  const std::jthread canceller([&] {
    std::this_thread::sleep_for(10ms);
    stop.request_stop();
  });
  const auto result = store_->search("writer", all_, 3, 60s, stop.get_token());
  EXPECT_EQ(code_of(result), ErrorCode::Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_EQ(code_of(store_->search("writer", "alpha", 3, 60s, stop.get_token())),
            ErrorCode::Cancelled);
}

// RT-58: a commit does not wait for a running search.
TEST_F(LargeMemory, ASearchBlocksNoCommit) {
  const Lease held = lease();
  std::stop_source stop;
  auto search = std::async(
      std::launch::async, [&] { return store_->search("writer", all_, 3, 60s, stop.get_token()); });
  int commits = 0;
  while (commits < 3) {
    ASSERT_TRUE(store_->append(held, std::vector{text_item("x")}));
    ++commits;
  }
  stop.request_stop();
  const auto result = search.get();
  EXPECT_TRUE(result || result.error().code == ErrorCode::Cancelled);
  EXPECT_EQ(lines().size(), 3u);
}

}  // namespace
}  // namespace sallyport::sessions
