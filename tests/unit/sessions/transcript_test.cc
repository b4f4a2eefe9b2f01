#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <random>

#include "store_on_disk.h"

namespace sallyport::sessions {
namespace {

class Transcript : public StoreOnDisk {
 protected:
  static mode_t mode_of(const std::filesystem::path& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }
  static std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // A line without its index, which a compaction renumbers.
  static std::string behind_index(const std::string& line) { return line.substr(line.find(',')); }
};

// RT-7, RT-8
TEST_F(Transcript, ItemsRaiseTheRevisionAndAreExportedInTheSpecifiedShape) {
  const Lease held = lease();
  const NewItem call{
      .role = Role::Assistant,
      .content = {json::object{{"type", "tool_call"},
                               {"id", "c-1"},
                               {"name", "shell"},
                               {"input", {{"z", 18446744073709551615u}, {"a", 1.5}}}}}};
  const NewItem result{.role = Role::Tool,
                       .content = {json::object{{"type", "tool_result"}, {"text", "\"ä\n"}}},
                       .tool_call_id = "c-1"};
  EXPECT_EQ(*store_->append(held, std::vector{text_item("hello")}), 1u);
  EXPECT_EQ(*store_->append(held, std::vector{call, result}), 3u);
  const std::string time = rfc3339(clock_.wall());
  const std::vector<std::string> expected{
      R"({"index":0,"revision":1,"role":"user","content":[{"type":"text","text":"hello"}],"tool_call_id":null,"created_at":")" +
          time + R"("})",
      R"({"index":1,"revision":2,"role":"assistant","content":[{"type":"tool_call","id":"c-1","name":"shell","input":{"z":18446744073709551615,"a":1.5E0}}],"tool_call_id":null,"created_at":")" +
          time + R"("})",
      R"({"index":2,"revision":3,"role":"tool","content":[{"type":"tool_result","text":"\"ä\n"}],"tool_call_id":"c-1","created_at":")" +
          time + R"("})"};
  EXPECT_EQ(lines(), expected);
  const std::vector<Item> items = *store_->items("s-1");
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[1].content, call.content);
  EXPECT_EQ(items[2].tool_call_id, "c-1");
  EXPECT_EQ(items[2].role, Role::Tool);
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(json::serialize(to_json(items[i])), expected[i]);
  }
}

// RT-84
TEST_F(Transcript, WhatWasCommittedIsThereForTheNextProcess) {
  ASSERT_TRUE(store_->append(lease(), std::vector{text_item("kept")}));
  const std::vector<std::string> before = lines();
  store_.reset();
  store_ = open();
  EXPECT_EQ(lines(), before);
  EXPECT_EQ((*store_->session("s-1"))->revision, 1u);
}

TEST_F(Transcript, TextThatIsNotUtf8AndItemsThatAreTooLongAreRefusedWhole) {
  const Lease held = lease();
  EXPECT_FALSE(store_->append(held, std::vector{text_item("good"), text_item("\xff")}));
  EXPECT_EQ(code_of(store_->append(held, std::vector{text_item(std::string(kItemBytes, 'x'))})),
            ErrorCode::Exhausted);
  EXPECT_TRUE(lines().empty());
  EXPECT_EQ((*store_->session("s-1"))->revision, 0u);
}

// RT-6
TEST_F(Transcript, EveryFileOfTheStoreIsForItsOwnerOnly) {
  const Lease held = lease();
  ASSERT_TRUE(store_->append(held, std::vector{text_item("x")}));
  const std::string snapshot = *store_->snapshot(held, folder_ / "snapshots");
  EXPECT_EQ(mode_of(file()), 0600u);
  EXPECT_EQ(mode_of(file().string() + "-wal"), 0600u);
  EXPECT_EQ(mode_of(file().string() + "-shm"), 0600u);
  EXPECT_EQ(mode_of(snapshot), 0600u);
  EXPECT_EQ(mode_of(folder_ / "snapshots"), 0700u);
}

// RT-6
TEST_F(Transcript, AFileThatOthersCouldReadIsClosedToThem) {
  store_.reset();
  ASSERT_EQ(::chmod(file().c_str(), 0644), 0);
  store_ = open();
  lease();
  EXPECT_EQ(mode_of(file()), 0600u);
  EXPECT_EQ(mode_of(file().string() + "-wal"), 0600u);
}

// RT-63
TEST_F(Transcript, ASnapshotHoldsTheLinesOfTheWholeTranscript) {
  const Lease held = lease();
  ASSERT_TRUE(store_->append(held, std::vector{text_item("a"), text_item("b")}));
  const std::string path = *store_->snapshot(held, folder_ / "snapshots");
  std::string expected;
  for (const std::string& line : lines()) expected += line + "\n";
  EXPECT_EQ(bytes_of(path), expected);
  EXPECT_EQ(*store_->snapshot(held, folder_ / "snapshots"), path);  // the same revision
  ASSERT_TRUE(store_->append(held, std::vector{text_item("c")}));
  EXPECT_NE(*store_->snapshot(held, folder_ / "snapshots"), path);
  EXPECT_EQ(bytes_of(path), expected);
}

// RT-63: the name of a session is outside input.
TEST_F(Transcript, NoNameOfASessionLeadsASnapshotOutOfItsFolder) {
  for (const char* id : {"../up", "/etc/x", ".hidden", "a/b", "~x", "ä"}) {
    const Lease held = lease(id);
    const Result<std::string> path = store_->snapshot(held, folder_ / "snapshots");
    ASSERT_TRUE(path) << id;
    EXPECT_EQ(std::filesystem::path(*path).parent_path(), folder_ / "snapshots") << id;
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "snapshots"), {}), 6);
}

// RT-63
TEST_F(Transcript, ASnapshotFolderThatIsALinkOrOpenToOthersIsRefused) {
  const Lease held = lease();
  std::filesystem::create_directory(folder_ / "real");
  std::filesystem::create_directory_symlink(folder_ / "real", folder_ / "link");
  EXPECT_EQ(code_of(store_->snapshot(held, folder_ / "link")), ErrorCode::Unavailable);
  std::filesystem::create_directory(folder_ / "open");
  std::ofstream(folder_ / "open/x") << "x";
  ASSERT_EQ(::chmod((folder_ / "open").c_str(), 0777), 0);
  EXPECT_EQ(code_of(store_->snapshot(held, folder_ / "open")), ErrorCode::Unavailable);
}

// RT-63: a file in the place of a snapshot is replaced, and a link is not followed.
TEST_F(Transcript, ASnapshotDoesNotWriteThroughALink) {
  const Lease held = lease();
  const std::string path = *store_->snapshot(held, folder_ / "snapshots");
  std::ofstream(folder_ / "victim") << "precious";
  std::filesystem::remove(path);
  std::filesystem::create_symlink(folder_ / "victim", path);
  ASSERT_TRUE(store_->snapshot(held, folder_ / "snapshots"));
  EXPECT_EQ(bytes_of(folder_ / "victim"), "precious");
}

// RT-70
TEST_F(Transcript, OnlySnapshotsOlderThanAnAppliedCompactionArePruned) {
  const Lease held = lease();
  const std::filesystem::path snapshots = folder_ / "snapshots";
  std::vector<std::string> paths;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(store_->append(held, std::vector{text_item("x")}));
    paths.push_back(*store_->snapshot(held, snapshots));
  }
  std::ofstream(snapshots / "s-1-notes.txt") << "of a person";
  lease("s-10", "i-2");
  EXPECT_EQ(*store_->prune_snapshots(held, snapshots, 2), 0u);  // nothing was compacted
  std::size_t length = 0;
  ASSERT_TRUE(*store_->compact(held, 5, 4, text_item("summary"), length));
  EXPECT_EQ(*store_->prune_snapshots(held, snapshots, 2), 3u);
  EXPECT_FALSE(std::filesystem::exists(paths[2]));
  EXPECT_TRUE(std::filesystem::exists(paths[3]));
  EXPECT_TRUE(std::filesystem::exists(paths[4]));
  EXPECT_TRUE(std::filesystem::exists(snapshots / "s-1-notes.txt"));
  // The snapshot of the last compaction stays, whatever the request.
  EXPECT_EQ(*store_->prune_snapshots(held, snapshots, 0), 1u);
  EXPECT_TRUE(std::filesystem::exists(paths[4]));
}

// RT-66
TEST_F(Transcript, ACompactionFromAnOldRevisionChangesNothing) {
  const Lease held = lease();
  ASSERT_TRUE(store_->append(held, std::vector{text_item("a"), text_item("b"), text_item("c")}));
  const std::vector<std::string> before = lines();
  std::size_t length = 0;
  EXPECT_FALSE(*store_->compact(held, 2, 2, text_item("summary"), length));
  EXPECT_EQ(lines(), before);
  EXPECT_EQ((*store_->session("s-1"))->revision, 3u);
}

// RT-66, RT-68
TEST_F(Transcript, ACompactionReplacesTheOlderPartAndKeepsTheRestByteForByte) {
  const Lease held = lease();
  ASSERT_TRUE(store_->append(
      held, std::vector{text_item("a"), text_item("b"), text_item("c"), text_item("d")}));
  const std::vector<std::string> before = lines();
  std::size_t length = 0;
  ASSERT_TRUE(*store_->compact(held, 4, 2, text_item("summary"), length));
  EXPECT_EQ(length, 3u);
  const std::vector<std::string> after = lines();
  ASSERT_EQ(after.size(), 3u);
  EXPECT_TRUE(after[0].starts_with(R"({"index":0,"revision":5,"role":"user")")) << after[0];
  EXPECT_TRUE(after[1].starts_with(R"({"index":1,"revision":3,)")) << after[1];
  EXPECT_EQ(behind_index(after[1]), behind_index(before[2]));
  EXPECT_EQ(behind_index(after[2]), behind_index(before[3]));
  EXPECT_EQ(*store_->append(held, std::vector{text_item("e")}), 6u);
}

// RT-64
TEST_F(Transcript, SystemTextAtTheBeginningSurvivesACompaction) {
  const Lease held = lease();
  ASSERT_TRUE(store_->append(
      held, std::vector{text_item("rules", Role::System), text_item("a"), text_item("b")}));
  std::size_t length = 0;
  ASSERT_TRUE(*store_->compact(held, 3, 2, text_item("summary"), length));
  const std::vector<Item> items = *store_->items("s-1");
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(text_of(items[0]), "rules");
  EXPECT_EQ(text_of(items[1]), "summary");
  EXPECT_EQ(text_of(items[2]), "b");
  EXPECT_EQ(code_of(store_->compact(held, 4, 1, text_item("s"), length)), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of(store_->compact(held, 4, 4, text_item("s"), length)), ErrorCode::InvalidInput);
}

// RT-7, RT-66, RT-68: compared with a plain list, through random changes.
TEST_F(Transcript, RandomAppendsAndCompactionsKeepIndexesRevisionsAndBytes) {
  std::mt19937 random(20251115);
  const Lease held = lease();
  std::vector<std::string> model;  // lines behind their index
  std::uint64_t revision = 0;
  for (int step = 0; step < 150; ++step) {
    const bool compacts = model.size() > 2 && random() % 4 == 0;
    std::size_t replaced = 0;
    if (compacts) {
      const std::uint64_t base = random() % 3 == 0 ? revision - 1 : revision;
      replaced = 1 + random() % model.size();
      std::size_t length = 0;
      const bool applied = *store_->compact(held, base, replaced, text_item("summary"), length);
      ASSERT_EQ(applied, base == revision);
      if (!applied) replaced = 0;
      if (applied) ASSERT_EQ(length, model.size() - replaced + 1);
      revision += applied ? 1 : 0;
    } else {
      std::vector<NewItem> items;
      for (std::size_t i = 0; i <= random() % 4; ++i) {
        items.push_back(
            text_item(std::string(random() % 300, static_cast<char>('a' + random() % 26))));
      }
      revision += items.size();
      ASSERT_EQ(*store_->append(held, items), revision);
    }
    const std::vector<std::string> now = lines();
    if (replaced > 0) {
      model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(replaced));
      model.insert(model.begin(), behind_index(now.at(0)));
    }
    ASSERT_GE(now.size(), model.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
      ASSERT_TRUE(now[i].starts_with("{\"index\":" + std::to_string(i) + ",")) << now[i];
      if (i < model.size()) ASSERT_EQ(behind_index(now[i]), model[i]);
      if (i >= model.size()) model.push_back(behind_index(now[i]));
    }
    ASSERT_EQ((*store_->session("s-1"))->revision, revision);
    ASSERT_EQ((*store_->session("s-1"))->items, model.size());
    const std::vector<Item> items = *store_->items("s-1");
    std::vector<std::uint64_t> later;
    for (std::size_t i = 1; i < items.size(); ++i) later.push_back(items[i].revision);
    ASSERT_TRUE(std::ranges::is_sorted(later));
  }
}

}  // namespace
}  // namespace sallyport::sessions
