#include "ledger/read/query.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "ledger/write/block_index.h"
#include "support/test_clock.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;
using Sequences = std::vector<std::uint64_t>;

// 900 entries about few subjects, over two hours of a clock that goes back once.
class QueryTest : public testing::Test {
 protected:
  void SetUp() override {
    ledger_.clock = &clock_;
    ledger_.open();
    std::mt19937 random(5);
    for (int batch = 0; batch < 20; ++batch) {
      std::vector<core::Draft> drafts;
      for (int i = 0; i < 45; ++i) drafts.push_back(draft(random, batch * 45 + i));
      ASSERT_TRUE(ledger_->append_blocking(std::move(drafts), core::Urgency::Announces));
      clock_.advance(std::chrono::minutes(6));
      if (batch == 10) clock_.step_wall(-std::chrono::minutes(10));
    }
  }
  void TearDown() override { ledger_.close(); }

  static core::Draft draft(std::mt19937& random, int number) {
    const auto some = [&](std::string_view name, unsigned many) {
      const auto which = random() % many;
      return which == 0 ? std::string() : std::string(name) + std::to_string(which);
    };
    core::Draft made{.kind = random() % 2 == 0 ? core::Kind::ToolAudit : core::Kind::GuardHit,
                     .subject = Subject{.call_id = "call" + std::to_string(number / 3),
                                        .session_id = some("session", 4),
                                        .agent_id = some("agent", 3),
                                        .server = some("server", 3),
                                        .tool_name = some("tool", 5),
                                        .run_id = some("run", 4)},
                     .outcome = some("outcome", 4),
                     .topic = some("topic", 6),
                     .body = {{"n", number}}};
    return made;
  }

  Result<Sequences> find(const Filter& filter) {
    Sequences found;
    const Result<void> read = ledger_.store().read([&](ReadView& view) {
      return find_entries(view, filter,
                          [&](const StoredEntry& stored, const EntryView& entry) -> Result<bool> {
                            EXPECT_EQ(stored.sequence, entry.sequence);
                            found.push_back(stored.sequence);
                            return true;
                          });
    });
    if (!read) return std::unexpected(read.error());
    return found;
  }

  std::vector<EntryView> all() {
    std::vector<EntryView> entries;
    EXPECT_TRUE(ledger_.store().read([&](ReadView& view) {
      return view.scan(0, view.size().value(), [&](const StoredEntry& stored) -> Result<bool> {
        entries.push_back(view_entry(*stored.bytes).value());
        return true;
      });
    }));
    return entries;
  }

  // The meaning of the filter, without any index.
  Sequences expected(const Filter& filter) {
    Sequences found;
    for (const EntryView& entry : all()) {
      const WallTime time = *from_rfc3339(entry.recorded_at);
      bool match = !filter.after || entry.sequence > *filter.after;
      for (const auto& [facet, value] : filter.facets) {
        match = match && facet_value(entry, facet) == value;
      }
      match = match && (!filter.since || time >= *filter.since);
      match = match && (!filter.until || time < *filter.until);
      match = match && (!filter.id || entry.id == *filter.id);
      if (match && found.size() < filter.limit) found.push_back(entry.sequence);
    }
    return found;
  }

  std::vector<Filter> filters() {
    const WallTime start = *from_rfc3339("2025-11-15T02:00:00Z");
    const auto at = [start](int minutes) { return start + std::chrono::minutes(minutes); };
    std::vector<Filter> filters = {
        {},
        {.facets = {{Facet::Call, "call70"}}},
        {.facets = {{Facet::Session, "session2"}}},
        {.facets = {{Facet::Agent, "agent1"}}},
        {.facets = {{Facet::Server, "server2"}}},
        {.facets = {{Facet::Tool, "tool4"}}},
        {.facets = {{Facet::Outcome, "outcome3"}}},
        {.facets = {{Facet::Kind, "guard_hit"}}},
        {.facets = {{Facet::Kind, "control"}}},
        {.facets = {{Facet::Topic, "topic5"}}},
        {.facets = {{Facet::Agent, "agent2"}, {Facet::Tool, "tool1"}, {Facet::Topic, "topic2"}}},
        {.since = at(0)},
        {.since = at(48), .until = at(54)},
        {.since = at(54), .until = at(61)},
        {.until = at(2)},
        {.facets = {{Facet::Tool, "tool2"}}, .since = at(20), .until = at(90), .after = 300},
        {.id = all().at(3).id},
        {.id = all().at(600).id},
        {.after = 0},
        {.after = 255},
        {.after = 511},
        {.after = 850},
    };
    for (const std::size_t limit : {0U, 1U, 7U, 400U}) {
      filters.push_back({.limit = limit});
      filters.push_back({.facets = {{Facet::Kind, "tool_audit"}}, .after = 100, .limit = limit});
    }
    return filters;
  }

  test::TestClock clock_;
  TestLedger ledger_;
};

// LE-62
TEST_F(QueryTest, EveryFilterFindsWhatItNamesInWriteOrder) {
  for (const Filter& filter : filters()) {
    const Result<Sequences> found = find(filter);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, expected(filter));
    EXPECT_EQ(found->empty(), filter.limit == 0);
  }
  EXPECT_EQ(find({.facets = {{Facet::Call, "call70"}}})->size(), 3U);
}

// LE-62
TEST_F(QueryTest, ARestartChangesNoAnswer) {
  std::vector<Sequences> before;
  for (const Filter& filter : filters()) before.push_back(*find(filter));
  const std::uint64_t size = all().size();
  ledger_.close();
  ledger_.open();
  std::size_t i = 0;
  for (const Filter& filter : filters()) {
    Sequences found = *find(filter);
    EXPECT_EQ(found, expected(filter));
    std::erase_if(found, [size](std::uint64_t sequence) { return sequence >= size; });
    EXPECT_EQ(found, before[i++]);
  }
}

// LE-62
TEST_F(QueryTest, PagesByAfterAndLimitJoinWithoutGapOrRepeat) {
  Filter filter{.facets = {{Facet::Kind, "tool_audit"}}, .limit = 10};
  Sequences joined;
  while (true) {
    const Sequences page = *find(filter);
    if (page.empty()) break;
    EXPECT_LE(page.size(), 10U);
    joined.insert(joined.end(), page.begin(), page.end());
    filter.after = page.back();
  }
  EXPECT_EQ(joined, expected({.facets = {{Facet::Kind, "tool_audit"}}}));
}

// LE-62
TEST_F(QueryTest, NothingMatchesBehindTheEnd) {
  const std::uint64_t size = all().size();
  for (const std::uint64_t after :
       {size - 1, size, size + 1000, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_TRUE(find({.after = after})->empty()) << after;
  }
  EXPECT_TRUE(find({.facets = {{Facet::Call, "call"}}})->empty());
  EXPECT_TRUE(find({.facets = {{Facet::Agent, ""}, {Facet::Tool, "no"}}})->empty());
}

// LE-62
TEST_F(QueryTest, TheCallerMayStopEarly) {
  int seen = 0;
  EXPECT_TRUE(ledger_.store().read([&](ReadView& view) {
    return find_entries(view, {}, [&](const StoredEntry&, const EntryView&) -> Result<bool> {
      return ++seen < 300;
    });
  }));
  EXPECT_EQ(seen, 300);
  const Result<void> failed = ledger_.store().read([&](ReadView& view) {
    return find_entries(view, {}, [](const StoredEntry&, const EntryView&) -> Result<bool> {
      return fail(ErrorCode::Cancelled, "enough");
    });
  });
  EXPECT_EQ(failed.error().code, ErrorCode::Cancelled);
}

// LE-62
TEST_F(QueryTest, TheNewestMatchesAreTheLastOfAllMatches) {
  for (const Filter& filter :
       {Filter{}, Filter{.facets = {{Facet::Tool, "tool1"}}}, Filter{.after = 700},
        Filter{.facets = {{Facet::Call, "call1"}}}, Filter{.facets = {{Facet::Call, "none"}}},
        Filter{.facets = {{Facet::Agent, "agent1"}}, .after = 300}, Filter{.after = 5000}}) {
    for (const std::size_t count : {0U, 1U, 5U, 300U, 5000U}) {
      Sequences newest;
      EXPECT_TRUE(ledger_.store().read([&](ReadView& view) -> Result<void> {
        for (const StoredEntry& entry : newest_entries(view, filter, count).value()) {
          newest.push_back(entry.sequence);
        }
        return {};
      }));
      Sequences wanted = expected(filter);
      if (wanted.size() > count)
        wanted.erase(wanted.begin(), wanted.end() - static_cast<long>(count));
      EXPECT_EQ(newest, wanted);
    }
  }
}

// LE-62, CO-70 (partly): of several finished blocks, those that every index names are read
TEST_F(QueryTest, IndexesOfFinishedBlocksTogetherLeaveNothingOut) {
  std::mt19937 random(6);
  for (int batch = 0; batch < 13; ++batch) {
    std::vector<core::Draft> drafts;
    for (int i = 0; i < 1000; ++i) drafts.push_back(draft(random, 900 + batch * 1000 + i));
    ASSERT_TRUE(ledger_->append_blocking(std::move(drafts), core::Urgency::Announces));
    clock_.advance(std::chrono::minutes(6));
  }
  const WallTime start = *from_rfc3339("2025-11-15T02:00:00Z");
  const auto at = [start](int minutes) { return start + std::chrono::minutes(minutes); };
  const std::vector<Filter> wanted = {
      {.facets = {{Facet::Agent, "agent2"}, {Facet::Tool, "tool1"}},
       .since = at(125),
       .until = at(135)},
      {.facets = {{Facet::Call, "call1500"}, {Facet::Kind, "tool_audit"}}},
      {.facets = {{Facet::Call, "call1500"}}, .until = at(60)},
      {.facets = {{Facet::Kind, "tool_audit"}}, .until = at(2)},
      {.since = at(140), .until = at(146)},
      {.facets = {{Facet::Tool, "nowhere"}, {Facet::Kind, "tool_audit"}}},
  };
  for (const Filter& filter : wanted) {
    const Sequences found = expected(filter);
    EXPECT_EQ(find(filter).value(), found);
    Sequences newest;
    ASSERT_TRUE(ledger_.store().read([&](ReadView& view) -> Result<void> {
      const auto entries = newest_entries(view, filter, 300);
      EXPECT_TRUE(entries);
      for (const StoredEntry& stored : *entries) newest.push_back(stored.sequence);
      return {};
    }));
    const std::size_t many = std::min<std::size_t>(300, found.size());
    EXPECT_EQ(newest, Sequences(found.end() - static_cast<std::ptrdiff_t>(many), found.end()));
  }
}

// LE-62
TEST_F(QueryTest, CountsAreThoseOfTheEntries) {
  for (const Facet facet : kFacets) {
    std::map<std::string, std::uint64_t> wanted;
    for (const EntryView& entry : all()) {
      if (!facet_value(entry, facet).empty()) ++wanted[facet_value(entry, facet)];
    }
    std::map<std::string, std::uint64_t> counts;
    EXPECT_TRUE(ledger_.store().read([&](ReadView& view) -> Result<void> {
      counts = count_by(view, facet).value();
      return {};
    }));
    EXPECT_EQ(counts, wanted) << static_cast<int>(facet);
    EXPECT_FALSE(counts.empty());
  }
}

// LE-82: a malformed id was once answered like a missing id
TEST_F(QueryTest, AMalformedIdIsAMistakeAndNoEmptyAnswer) {
  for (const std::string& id :
       {std::string(), std::string("7"), std::string("call70"), all().at(3).id + "0",
        std::string("01966F4C-2000-7000-8000-000000000001")}) {
    const Result<Sequences> found = find({.id = id});
    ASSERT_FALSE(found) << id;
    EXPECT_EQ(found.error().code, ErrorCode::InvalidInput);
    EXPECT_TRUE(ledger_.store().read([&](ReadView& view) -> Result<void> {
      EXPECT_FALSE(newest_entries(view, {.id = id}, 5));
      return {};
    }));
  }
  EXPECT_TRUE(find({.id = "01966f4c-2000-7000-8000-000000000001"})->empty());
}

// LE-63
TEST_F(QueryTest, AReaderKeepsItsViewAndBlocksNoWriter) {
  const std::uint64_t before = all().size();
  EXPECT_TRUE(ledger_.store().read([&](ReadView& view) -> Result<void> {
    EXPECT_EQ(view.size().value(), before);
    ledger_.append(TestLedger::event({{"n", 1}}));
    EXPECT_EQ(view.size().value(), before);
    EXPECT_FALSE(view.entry(before).value());
    return {};
  }));
  EXPECT_EQ(all().size(), before + 1);
}

// LE-63
TEST_F(QueryTest, WhatIsNotCommittedIsNotSeen) {
  const auto fact = [&] {
    std::optional<std::string> seen;
    EXPECT_TRUE(ledger_.store().read([&](ReadView& view) -> Result<void> {
      seen = view.fact("test", "key").value();
      return {};
    }));
    return seen;
  };
  const auto put = [&](bool commit) {
    return ledger_.store().write([&](WriteView& view) -> Result<void> {
      EXPECT_TRUE(view.put_fact({"test", "key", "value"}));
      std::jthread([&] { EXPECT_EQ(fact(), std::nullopt); }).join();
      if (!commit) return fail(ErrorCode::Cancelled, "changed my mind");
      return {};
    });
  };
  EXPECT_FALSE(put(false));
  EXPECT_EQ(fact(), std::nullopt);
  EXPECT_TRUE(put(true));
  EXPECT_EQ(fact(), "value");
}

// A commit of many entries is signed once.
TEST(SignedNearTest, TheSignedSizesOnBothSidesAreFound) {
  TestLedger ledger;
  ledger.open();
  const std::uint64_t first = ledger.append_many(500).back().sequence + 1;
  const std::uint64_t second = ledger.append_many(500).back().sequence + 1;
  const auto near = [&](std::uint64_t size) {
    SignedNear found;
    EXPECT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
      found = signed_near(view, size).value();
      return {};
    }));
    return std::pair(found.before, found.after);
  };
  using Near = std::pair<std::optional<std::uint64_t>, std::optional<std::uint64_t>>;
  EXPECT_EQ(near(first + 7), Near(first, second));
  EXPECT_EQ(near(second - 1), Near(first, second));
  EXPECT_EQ(near(second), Near(first, std::nullopt));
  EXPECT_EQ(near(0).first, std::nullopt);
}

}  // namespace
}  // namespace sallyport::ledger
