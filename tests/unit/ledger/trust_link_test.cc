#include "ledger/entry/trust_link.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <thread>

#include "ledger/read/query.h"
#include "ledger/read/topics.h"
#include "support/ledger_checks.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;

core::Draft record(const std::string& agent, json::value cost = nullptr) {
  core::Draft draft{.kind = core::Kind::Trust, .topic = "trust_graph"};
  draft.subject.set(&Subject::agent_id, agent);
  draft.body = {{"schema", "opentrustgraph/v0"},
                {"record_id", "01966f4c-3000-7000-8000-000000000001"},
                {"agent", agent},
                {"action", "fs.write"},
                {"approver", nullptr},
                {"outcome", "success"},
                {"trace_id", "trace_1"},
                {"autonomy_tier", "act_auto"},
                {"timestamp", "2026-11-15T02:00:00Z"},
                {"cost_usd", std::move(cost)},
                {"metadata", {{"call_id", "call_1"}}}};
  return draft;
}

std::vector<json::object> bodies(LedgerStore& store) {
  std::vector<json::object> bodies;
  const Result<void> read = store.read([&](ReadView& view) {
    return find_entries(view, {.facets = {{Facet::Kind, "trust"}}},
                        [&](const StoredEntry& stored, const EntryView&) -> Result<bool> {
                          bodies.push_back(parse_own_json(*stored.bytes)->at("body").as_object());
                          return true;
                        });
  });
  EXPECT_TRUE(read);
  return bodies;
}

void expect_chain(LedgerStore& store, std::size_t count) {
  const std::vector<json::object> chain = bodies(store);
  ASSERT_EQ(chain.size(), count);
  json::value previous;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    ASSERT_EQ(chain[i].at("chain_index").to_number<std::uint64_t>(), i + 1);
    ASSERT_EQ(chain[i].at("previous_hash"), previous);
    ASSERT_EQ(chain[i].at("entry_hash").as_string(), trust_entry_hash(chain[i]));
    previous = chain[i].at("entry_hash");
  }
}

// TR-2 TR-3
TEST(TrustLinkTest, CostsAreHashedWithADecimalPoint) {
  EXPECT_EQ(trust_record_text({{"b", 1}, {"cost_usd", 3.0}}), R"({"b":1,"cost_usd":3.0})");
  EXPECT_EQ(trust_record_text({{"cost_usd", 0}}), R"({"cost_usd":0.0})");
  EXPECT_EQ(trust_record_text({{"cost_usd", 0.21}}), R"({"cost_usd":0.21})");
  EXPECT_EQ(trust_record_text({{"cost_usd", nullptr}}), R"({"cost_usd":null})");
  EXPECT_EQ(trust_record_text({{"a", "\"cost_usd\":7"}, {"cost_usd", 7}, {"m", {{"cost_usd", 7}}}}),
            R"({"a":"\"cost_usd\":7","cost_usd":7.0,"m":{"cost_usd":7}})");
}

// TR-4 TR-5 TR-8
TEST(TrustLinkTest, RecordsAreLinkedInTheOrderOfTheLogAlsoAfterARestart) {
  TestLedger ledger;
  ledger.open();
  for (int n = 0; n < 5; ++n) ledger.append(record("bot", n));
  ledger.open();
  ASSERT_TRUE(ledger->append_blocking({record("bot"), TestLedger::event({{"n", 1}}), record("b2")},
                                      core::Urgency::Announces));
  expect_chain(ledger.store(), 7);
  EXPECT_EQ(test::verdict(ledger.store()), "ok");
  const Result<TopicPage> all = read_topic(ledger.store(), "trust_graph", 0, 100);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->events.size(), 7u);
  EXPECT_EQ(all->events.back().headers.at("agent"), "b2");
  const Result<TopicPage> one = read_topic(ledger.store(), "trust_graph.b2", 0, 100);
  ASSERT_TRUE(one);
  ASSERT_EQ(one->events.size(), 1u);
  EXPECT_EQ(one->events[0].id, 7u);
}

// TR-5
TEST(TrustLinkTest, ARecordCannotBringItsOwnLinks) {
  TestLedger ledger;
  ledger.open();
  core::Draft forged = record("bot");
  forged.body["chain_index"] = 77;
  forged.body["previous_hash"] = "sha256:00";
  forged.body["entry_hash"] = "sha256:11";
  ledger.append(std::move(forged));
  expect_chain(ledger.store(), 1);
}

// TR-5
TEST(TrustLinkTest, TwoWritersNeverForkTheChain) {
  TestLedger first;
  first.open();
  auto store = store::SqliteStore::open({.file = first.file()});
  ASSERT_TRUE(store);
  const SystemClock clock;
  SystemEntropy entropy;
  const core::NoRedactor none;
  auto other = Ledger::open({**store, none, clock, entropy, {}}, first.settings);
  ASSERT_TRUE(other) << other.error().message;
  const auto write = [](Ledger& ledger) {
    for (int n = 0; n < 60; ++n) {
      EXPECT_TRUE(ledger.append_blocking({record("bot", n)}, core::Urgency::Reports));
    }
  };
  {
    std::jthread a([&] { write(*first); });
    std::jthread b([&] { write(*first); });
    std::jthread c([&] { write(**other); });
  }
  expect_chain(first.store(), 180);
}

// TR-5 LE-48 (partly)
TEST(TrustLinkTest, AHeadThatIsNotTheLastRecordIsFound) {
  TestLedger ledger;
  ledger.open();
  for (int n = 0; n < 3; ++n) ledger.append(record("bot", n));
  ledger.close();
  ledger.sql("UPDATE facts SET value = '1 sha256:00' WHERE space = 'trust'");
  const auto store = *store::SqliteStore::open({.file = ledger.file()});
  EXPECT_TRUE(test::verdict(*store).starts_with("storage at "));
}

// TR-17
TEST(TrustLinkTest, AControlRecordThroughTheOpenDoorIsRefusedAndRecorded) {
  TestLedger ledger;
  ledger.open();
  ledger.append(record("bot"));
  std::vector<core::Draft> tries;
  tries.push_back(record("bot"));
  tries.back().body["action"] = "trust.promote";
  tries.push_back(record("bot"));
  tries.back().body["action"] = "trust.demote";
  tries.push_back(record("bot"));
  tries.back().body["metadata"] = {{"control", true}};
  for (const core::Draft& draft : tries) {
    const auto written = ledger->append_blocking({draft}, core::Urgency::Reports);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::Unauthenticated);
  }
  ledger->owe({tries.front()});
  ledger.append(record("bot"));
  expect_chain(ledger.store(), 2);
  ledger.close();
  ledger.open();
  EXPECT_EQ(test::controls(ledger.store(), "refused_control").size(), 4u);
}

}  // namespace
}  // namespace sallyport::ledger
