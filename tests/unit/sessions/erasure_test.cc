#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "store_on_disk.h"

namespace sallyport::sessions {
namespace {

class Erasure : public StoreOnDisk {
 protected:
  // A session with `word` wherever the store keeps content.
  void fill(const std::string& session, const std::string& word) {
    const Lease held = lease(session);
    ASSERT_TRUE(store_->begin_run(held, {.id = "r-" + session}));
    ASSERT_TRUE(store_->append(held, std::vector{text_item(word)}));
    BackgroundTask command = task("t-" + session);
    command.command = "echo " + word;
    ASSERT_TRUE(store_->begin_task(held, command, 10));
    ASSERT_TRUE(store_->snapshot(held, snapshots()));
    ASSERT_TRUE(store_->ingest(
        session, 1,
        {.id = "episode:writer:" + session + ":1", .agent_id = "writer", .text = word}));
    ASSERT_TRUE(store_->release(held));
  }

  std::vector<std::string> files_with(const std::string& word) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      if (bytes.contains(word)) found.push_back(entry.path().filename().string());
    }
    return found;
  }

  std::filesystem::path snapshots() const { return folder_ / std::string(kSnapshotFolder); }
};

// `ledger erase` once left what our own agents had written down of a session.
// LE-58
TEST_F(Erasure, AnErasedSessionIsInNoFileOfTheStoreAndOthersStay) {
  fill("s-1", "plantedone");
  fill("s-1:2", "plantedtwo");
  EXPECT_GE(files_with("plantedone").size(), 2u);
  EXPECT_EQ(*store_->idle_sessions({.session_id = "s-1"}), 1u);
  EXPECT_EQ(*store_->erase({.session_id = "s-1"}, snapshots()), 1u);
  EXPECT_EQ(files_with("plantedone"), std::vector<std::string>{});
  EXPECT_EQ(*store_->session("s-1"), std::nullopt);
  EXPECT_EQ(lines("s-1:2").size(), 1u);
  EXPECT_EQ(store_->search("writer", "plantedone", 5, 5s, {})->size(), 0u);
  EXPECT_EQ(store_->search("writer", "plantedtwo", 5, 5s, {})->size(), 1u);
  EXPECT_FALSE(files_with("plantedtwo").empty());
  EXPECT_EQ(*store_->erase({.session_id = "s-1"}, snapshots()), 0u);
  store_.reset();
  store_ = open();
  EXPECT_EQ(lines("s-1:2").size(), 1u);
}

// LE-58
TEST_F(Erasure, AnAgentIsErasedWithAllThatItRemembers) {
  fill("s-1", "plantedone");
  fill("s-2", "plantedtwo");
  ASSERT_TRUE(store_->pin({.id = "pin:1", .agent_id = "writer", .text = "plantedpin"}));
  ASSERT_TRUE(store_->pin({.id = "pin:2", .agent_id = "reader", .text = "otherpin"}));
  EXPECT_EQ(*store_->erase({.session_id = "s-1", .agent_id = "reader"}, snapshots()), 0u);
  EXPECT_EQ(*store_->erase({.agent_id = "writer"}, snapshots()), 2u);
  EXPECT_EQ(files_with("planted"), std::vector<std::string>{});
  EXPECT_EQ(store_->search("reader", "otherpin", 5, 5s, {})->size(), 1u);
}

// LE-58: a process that works on the session would write its content again.
TEST_F(Erasure, ASessionThatAProcessWorksOnStays) {
  fill("s-1", "plantedone");
  const Lease held = lease("s-1");
  EXPECT_EQ(cause_of(store_->idle_sessions({.agent_id = "writer"})), "lease_unavailable");
  EXPECT_EQ(cause_of(store_->erase({.agent_id = "writer"}, snapshots())), "lease_unavailable");
  EXPECT_EQ(lines("s-1").size(), 1u);
  clock_.advance(31s);
  EXPECT_EQ(*store_->erase({.agent_id = "writer"}, snapshots()), 1u);
}

}  // namespace
}  // namespace sallyport::sessions
