// Topics of a program, cursors, and hooks that add rows.
#include "engine_setup.h"
#include "support/temp_folder.h"

namespace sallyport::test {
namespace {

TopicEvent event_of(std::string kind, json::value payload = {}) {
  return {.topic = "builds", .kind = std::move(kind), .payload = std::move(payload)};
}

// LG-2 LG-3 LG-10
TEST(EngineTopicTest, WhatIsPublishedIsReadInOrderAndRedacted) {
  const auto engine = opened(EngineBuilder("").threads(2));
  ASSERT_TRUE(engine->publish(event_of("one", {{"key", "AKIAIOSFODNN7EXAMPLE"}})));
  ASSERT_TRUE(engine->publish(event_of("two")));
  const Result<TopicPage> page = engine->read_topic("builds", 0);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->events.size(), 2u);
  EXPECT_EQ(page->events[0].id, 1u);
  EXPECT_EQ(page->events[1].kind, "two");
  EXPECT_EQ(json::serialize(page->events[0].payload).find("AKIA"), std::string::npos);
  EXPECT_TRUE(engine->receipt(page->events[0].sequence));
  EXPECT_EQ(engine->read_topic("builds", 1)->events.size(), 1u);
  EXPECT_TRUE(engine->read_topic("builds", 2)->events.empty());
}

// LG-7 LG-11 TR-17
TEST(EngineTopicTest, NamesAndHeadersOfTheEngineAreRefused) {
  const auto engine = opened(EngineBuilder("").threads(2));
  for (const char* const topic :
       {"trust_graph", "trust_graph.bot", "hitl.approvals", "autonomy", "trigger.outbox",
        "guardrails", "turned_away", "late_results", "scenes", "no topic", ""}) {
    const auto refused = engine->publish({.topic = topic, .kind = "k"});
    ASSERT_FALSE(refused) << topic;
    EXPECT_EQ(refused.error().where, "topic") << topic;
  }
  EXPECT_EQ(
      engine->publish({.topic = "t", .kind = "k", .headers = {{"agent", "me"}}}).error().where,
      "headers");
  EXPECT_EQ(
      engine->publish({.topic = "t", .kind = "k", .payload = json::value(std::string(20000, 'x'))})
          .error()
          .where,
      "payload");
  EXPECT_TRUE(engine->read_topic("t")->events.empty());
}

// LG-6
TEST(EngineTopicTest, ACursorIsDurableAndOnlyMovesForward) {
  const TempFolder folder;
  {
    const auto engine = opened(EngineBuilder(folder.path()).threads(2));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(engine->publish(event_of("e")));
    EXPECT_EQ(engine->cursor("builds", "mailer"), 0u);
    EXPECT_TRUE(engine->move_cursor("builds", "mailer", 2));
  }
  const auto engine = opened(EngineBuilder(folder.path()).threads(2));
  EXPECT_EQ(engine->cursor("builds", "mailer"), 2u);
  EXPECT_EQ(engine->move_cursor("builds", "mailer", 1).error().code, ErrorCode::Conflict);
  EXPECT_EQ(engine->move_cursor("builds", "mailer", 4).error().code, ErrorCode::Conflict);
  EXPECT_EQ(engine->cursor("builds", "mailer"), 2u);
  EXPECT_EQ(engine->cursor("builds", "other"), 0u);
}

// LG-4 LG-5
TEST(EngineTopicTest, AFollowerGetsHistoryThenNewsAndIsToldWhenItLags) {
  const auto engine = opened(EngineBuilder("").threads(2));
  ASSERT_TRUE(engine->publish(event_of("before")));
  Result<TopicFollower> news = engine->follow("builds", 0, 2);
  ASSERT_TRUE(news);
  const auto kind = [&]() -> std::string {
    const auto message = news->next();
    if (!message || !*message) return "nothing";
    if (const auto* const event = std::get_if<StoredEvent>(&**message)) return event->kind;
    return "lagged";
  };
  EXPECT_EQ(kind(), "before");
  EXPECT_EQ(kind(), "nothing");
  ASSERT_TRUE(engine->publish(event_of("after")));
  EXPECT_EQ(kind(), "after");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(engine->publish(event_of("many")));
  EXPECT_EQ(kind(), "many");
  EXPECT_EQ(kind(), "many");
  EXPECT_EQ(kind(), "lagged");
  EXPECT_TRUE(news->ended());
}

// EV-63 LG-10
TEST(EngineTopicTest, AHookAddsRowsBesideTheEventItHears) {
  const CountedTool act("act", kActs);
  const auto engine = opened(
      EngineBuilder("")
          .tool(act.tool())
          .autonomy(Autonomy::ActAuto)
          .row_hook(
              "count",
              [](const Event& event, const Subject& subject) -> Result<std::vector<TopicEvent>> {
                std::vector<TopicEvent> rows;
                if (event_type(event) != "tool_execution_finished") return rows;
                rows.push_back(
                    {.topic = "runs", .kind = "ran", .payload = {{"call", subject.call_id}}});
                return rows;
              }));
  const Result<Answer> answer = engine->call(call_of("act"));
  ASSERT_TRUE(answer);
  const auto page = engine->read_topic("runs");
  ASSERT_EQ(page->events.size(), 1u);
  EXPECT_EQ(page->events[0].payload.at("call"), json::value(answer->call_id));
}

// EV-58 EV-60
TEST(EngineTopicTest, ARowThatIsRefusedIsAFailureOfItsHook) {
  const CountedTool act("act", kActs);
  const auto engine = opened(
      EngineBuilder("")
          .tool(act.tool())
          .autonomy(Autonomy::ActAuto)
          .row_hook("odd",
                    [](const Event& event, const Subject&) -> Result<std::vector<TopicEvent>> {
                      if (event_type(event) != "tool_execution_started")
                        return std::vector<TopicEvent>{};
                      return std::vector<TopicEvent>{{.topic = "trust_graph", .kind = "promote"}};
                    }));
  const Result<Answer> answer = engine->call(call_of("act"));
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->result.success);
  EXPECT_EQ(act.runs(), 0);
  EXPECT_TRUE(engine->read_topic("trust_graph")->events.empty());
}

}  // namespace
}  // namespace sallyport::test
