#include "ledger/read/topics.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/event/topic_event.h"
#include "ledger/maintenance.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;

core::Draft news(int n, std::string topic = "news") {
  return *core::topic_draft(
      {.topic = std::move(topic), .kind = "said", .payload = {{"n", n}}, .headers = {{"h", "v"}}});
}

std::vector<std::uint64_t> ids(const TopicPage& page) {
  std::vector<std::uint64_t> ids;
  for (const StoredEvent& event : page.events) ids.push_back(event.id);
  return ids;
}

class TopicsTest : public testing::Test {
 protected:
  void SetUp() override { ledger.open(); }

  TopicPage read(std::int64_t after, std::size_t limit = 100, const char* topic = "news") {
    Result<TopicPage> page = read_topic(ledger.store(), topic, after, limit);
    EXPECT_TRUE(page) << page.error().message;
    return page ? *page : TopicPage{};
  }
  void write(int count) {
    for (int n = 0; n < count; ++n) ledger.append(news(n));
  }

  TestLedger ledger;
};

// LG-1
TEST_F(TopicsTest, AnEventHasTheseMembers) {
  write(1);
  json::object event = to_json(read(0).events.at(0));
  EXPECT_GT(event.at("occurred_at_ms").to_number<std::int64_t>(), 1'600'000'000'000);
  event["occurred_at_ms"] = 0;
  EXPECT_EQ(canonical_json(event), R"({"headers":{"h":"v"},"id":1,"kind":"said",)"
                                   R"("occurred_at_ms":0,"payload":{"n":0},"topic":"news"})");
}

// LG-1 LG-11
TEST_F(TopicsTest, OtherNamesAreRefusedAndNothingIsWritten) {
  const std::uint64_t before = ledger.append(TestLedger::event({{"n", 1}})).sequence;
  for (const std::string& name : {std::string("a b"), std::string("a/b"),
                                  std::string("caf\xc3\xa9"), std::string(129, 'x')}) {
    core::Draft draft = news(1, name);
    const auto written = ledger->append_blocking({std::move(draft)}, core::Urgency::Announces);
    ASSERT_FALSE(written) << name;
    EXPECT_EQ(written.error().code, ErrorCode::InvalidInput);
    EXPECT_FALSE(read_topic(ledger.store(), name, 0, 1));
  }
  EXPECT_FALSE(read_topic(ledger.store(), "", 0, 1));
  EXPECT_EQ(ledger.append(news(1, std::string(128, 'x'))).sequence, before + 1);
}

// LG-2
TEST_F(TopicsTest, IdsCountFromOnePerTopicAndGoOnAfterARestart) {
  write(3);
  ledger.append(news(9, "other"));
  ledger.open();
  write(2);
  EXPECT_EQ(ids(read(0)), (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(ids(read(0, 100, "other")), std::vector<std::uint64_t>{1});
}

// LG-3
TEST_F(TopicsTest, APageBeginsBehindAfterAndEndsAtItsLimit) {
  write(5);
  EXPECT_EQ(ids(read(2)), (std::vector<std::uint64_t>{3, 4, 5}));
  EXPECT_EQ(ids(read(0, 2)), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(ids(read(5)), std::vector<std::uint64_t>{});
  EXPECT_FALSE(read(0).first_kept);
  EXPECT_FALSE(read(5).first_kept);
  EXPECT_EQ(ids(read(0, 100, "nobody-wrote-here")), std::vector<std::uint64_t>{});
}

// LG-2 LG-3
TEST_F(TopicsTest, AGapByRetentionIsReported) {
  write(3);
  const std::uint64_t kept = ledger.append(news(4)).sequence;
  ASSERT_TRUE(ledger->transact(prune(kept, "test", "old")));
  const TopicPage page = read(0);
  EXPECT_EQ(ids(page), std::vector<std::uint64_t>{4});
  EXPECT_EQ(page.first_kept, 4u);
  EXPECT_FALSE(read(3).first_kept);
  const std::uint64_t next = ledger.append(TestLedger::event({{"n", 1}})).sequence;
  ASSERT_TRUE(ledger->transact(prune(next, "test", "old")));
  EXPECT_EQ(read(0).first_kept, 5u);
  write(1);
  EXPECT_EQ(ids(read(0)), std::vector<std::uint64_t>{5});
}

// LG-11
TEST_F(TopicsTest, ANegativePlaceIsAnError) {
  EXPECT_EQ(read_topic(ledger.store(), "news", -1, 10).error().where, "after");
}

std::vector<std::uint64_t> drain(Subscription& subscription) {
  std::vector<std::uint64_t> ids;
  while (true) {
    const auto message = subscription.next();
    EXPECT_TRUE(message);
    if (!message || !*message) return ids;
    if (const auto* const event = std::get_if<StoredEvent>(&**message)) ids.push_back(event->id);
    if (std::holds_alternative<Lagged>(**message)) ids.push_back(0);
  }
}

// LG-4
TEST_F(TopicsTest, HistoryGoesOverIntoLiveEventsWithoutHoleOrRepeat) {
  write(600);
  Result<Subscription> subscription = Subscription::open(ledger.store(), "news", 0);
  ASSERT_TRUE(subscription);
  std::vector<std::uint64_t> seen;
  for (int i = 0; i < 300; ++i) {
    const auto message = subscription->next();
    ASSERT_TRUE(message && *message);
    seen.push_back(std::get<StoredEvent>(**message).id);
  }
  write(5);
  ASSERT_TRUE(subscription->pump());
  for (const std::uint64_t id : drain(*subscription)) seen.push_back(id);
  write(2);
  for (const std::uint64_t id : drain(*subscription)) seen.push_back(id);
  ASSERT_EQ(seen.size(), 607u);
  for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i + 1);
}

// LG-5
TEST_F(TopicsTest, WhoFallsBehindItsQueueIsToldOnceAndTheStreamEnds) {
  Result<Subscription> subscription = Subscription::open(ledger.store(), "news", 0, 4);
  ASSERT_TRUE(subscription);
  write(3);
  ASSERT_TRUE(subscription->pump());
  write(3);
  ASSERT_TRUE(subscription->pump());
  write(1);
  EXPECT_FALSE(subscription->ended());
  EXPECT_EQ(drain(*subscription), (std::vector<std::uint64_t>{1, 2, 3, 4, 0}));
  EXPECT_TRUE(subscription->ended());
  EXPECT_EQ(canonical_json(to_json(Lagged{4})), R"({"lagged":true,"last_seen":4})");
}

// LG-6
TEST_F(TopicsTest, ACursorMovesForwardOnlyAndSurvivesARestart) {
  write(5);
  EXPECT_EQ(cursor_of(ledger.store(), "news", "mailer"), 0u);
  ASSERT_TRUE(move_cursor(*ledger, "news", "mailer", 3));
  ASSERT_TRUE(move_cursor(*ledger, "news", "mailer", 3));
  EXPECT_EQ(move_cursor(*ledger, "news", "mailer", 2).error().code, ErrorCode::Conflict);
  EXPECT_EQ(move_cursor(*ledger, "news", "mailer", 6).error().code, ErrorCode::Conflict);
  EXPECT_FALSE(move_cursor(*ledger, "news", "mail er", 4));
  ledger.open();
  EXPECT_EQ(cursor_of(ledger.store(), "news", "mailer"), 3u);
  EXPECT_EQ(cursor_of(ledger.store(), "news", "other"), 0u);
  EXPECT_TRUE(move_cursor(*ledger, "news", "mailer", 5));
}

// LG-7 LG-8 LG-10
TEST_F(TopicsTest, AProposalCarriesTheHeadersOfItsCallAndIsSealed) {
  const core::Proposal proposal{
      .about = {.agent = "bot", .trace_id = "trace_1", .autonomy_tier = Autonomy::Suggest},
      .action = "fs.write",
      .tool = "write_file",
      .effect_class = "fs.write",
      .input = {{"path", "/tmp/a-very-secret-path"}},
      .call_id = "call_1",
      .approval_request_id = "apr_1"};
  const core::Position at = ledger.append(core::dispatch_proposed(proposal));
  const StoredEvent event = read(0, 1, "trigger.outbox").events.at(0);
  EXPECT_EQ(event.kind, "dispatch_proposed");
  EXPECT_EQ(event.headers,
            (std::map<std::string, std::string>{
                {"agent", "bot"}, {"autonomy_tier", "suggest"}, {"trace_id", "trace_1"}}));
  EXPECT_EQ(canonical_json(event.payload),
            R"({"action":"fs.write","action_class":"fs.write","agent":"bot",)"
            R"("approval_request_id":"apr_1","args":[{"path":"/tmp/a-very-secret-path"}],)"
            R"("autonomy_tier":"suggest","builtin":"write_file","call_id":"call_1",)"
            R"("proposal":true,"replay_of_event_id":null,"trace_id":"trace_1"})");
  EXPECT_EQ(event.sequence, at.sequence);
  ASSERT_TRUE(ledger.store().read([&](ReadView& view) -> Result<void> {
    const auto stored = view.entry(at.sequence);
    EXPECT_EQ((*stored)->bytes->find("a-very-secret-path"), std::string::npos);
    return {};
  }));
}

// LG-7
TEST_F(TopicsTest, ACallerCannotSetTheHeadersOfGovernedEvents) {
  for (const char* name : {"trace_id", "agent", "autonomy_tier"}) {
    const auto draft =
        core::topic_draft({.topic = "news", .kind = "said", .headers = {{name, "mine"}}});
    ASSERT_FALSE(draft);
    EXPECT_EQ(draft.error().where, "headers");
  }
}

// LG-11
TEST_F(TopicsTest, APayloadOverTheLimitIsRefused) {
  EXPECT_TRUE(core::topic_draft({.topic = "n", .kind = "k", .payload = json::string(65533, 'x')}));
  EXPECT_FALSE(core::topic_draft({.topic = "n", .kind = "k", .payload = json::string(65534, 'x')}));
  EXPECT_FALSE(core::topic_draft({.topic = "n", .kind = ""}));
}

// LG-9
TEST_F(TopicsTest, TheQueuesOfPeopleHaveValidNames) {
  for (const std::string_view topic : {core::hitl::kQuestions, core::hitl::kApprovals,
                                       core::hitl::kDualControl, core::hitl::kEscalations}) {
    EXPECT_TRUE(read_topic(ledger.store(), std::string(topic), 0, 1));
  }
  EXPECT_EQ(core::hitl::kTimeout, "hitl.timeout");
}

}  // namespace
}  // namespace sallyport::ledger
