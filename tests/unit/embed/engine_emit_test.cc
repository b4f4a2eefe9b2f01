// Events that a program emits for its own model, memory and tasks.
#include "engine_setup.h"
#include "support/temp_folder.h"

namespace sallyport::test {
namespace {

using Strings = std::vector<std::string>;

const Subject kRequest{.session_id = kSession, .trace_id = "t-1"};

event::ModelRequestStarted started(std::uint64_t attempt = 1) {
  return {.agent_id = kAgent, .model = "m", .attempt = attempt};
}

event::ModelRequestFinished finished(bool success, std::uint64_t attempt = 1) {
  event::ModelRequestFinished event{
      .agent_id = kAgent, .model = "m", .attempt = attempt, .success = success};
  if (!success) event.error = "http 503: overloaded";
  return event;
}

event::ModelResponseFinished responded(bool success, std::uint64_t attempt = 1) {
  event::ModelResponseFinished event{
      .agent_id = kAgent, .model = "m", .attempt = attempt, .success = success};
  if (!success) event.error = "cut";
  return event;
}

Strings kinds_of(Engine& engine) {
  return event_types_of(engine, {.scope = kAgent});
}

// EV-15 EV-16 EV-17 EV-45 EV-77
TEST(EngineEmitTest, ARetriedRequestLeavesARowForEachStep) {
  const auto engine = opened(EngineBuilder("").threads(2));
  ASSERT_TRUE(engine->emit(started(1), kRequest));
  ASSERT_TRUE(engine->emit(finished(false, 1), kRequest));
  ASSERT_TRUE(engine->emit(started(2), kRequest));
  ASSERT_TRUE(engine->emit(finished(true, 2), kRequest));
  ASSERT_TRUE(engine->emit(responded(true, 2), kRequest));
  EXPECT_EQ(kinds_of(*engine),
            (Strings{"model_request_started", "model_request_finished", "model_request_started",
                     "model_request_finished", "model_response_finished"}));
  const json::object row = engine->events({.scope = kAgent})->front();
  EXPECT_EQ(row.at("session_id"), json::value(kSession));
  EXPECT_EQ(row.at("trace_id"), json::value("t-1"));
  EXPECT_EQ(row.at("policy_hash"), json::value(engine->policy_hash()));
}

// EV-16 EV-17 EV-46
TEST(EngineEmitTest, AFinishNeedsItsStartAndComesOnce) {
  const auto engine = opened(EngineBuilder("").threads(2));
  EXPECT_EQ(engine->emit(finished(true), kRequest).error().cause, "not_started");
  ASSERT_TRUE(engine->emit(started(), kRequest));
  EXPECT_EQ(engine->emit(started(), kRequest).error().cause, "already_started");
  EXPECT_EQ(engine->emit(responded(true), kRequest).error().cause, "not_started");
  ASSERT_TRUE(engine->emit(finished(true), kRequest));
  EXPECT_EQ(engine->emit(finished(true), kRequest).error().cause, "not_started");
  ASSERT_TRUE(engine->emit(responded(false), kRequest));
  EXPECT_EQ(engine->emit(responded(false), kRequest).error().cause, "not_started");
  // Parallel requests are distinguished by their trace.
  ASSERT_TRUE(engine->emit(started(), {.session_id = kSession, .trace_id = "t-2"}));
  ASSERT_TRUE(engine->emit(started(), {.session_id = kSession, .trace_id = "t-3"}));
}

// EV-22 EV-24 EV-26 EV-28 EV-29
TEST(EngineEmitTest, TasksAndMemoryArePairsToo) {
  const auto engine = opened(EngineBuilder("").threads(2));
  using namespace event;
  const std::vector<std::pair<Event, Event>> pairs = {
      {BackgroundTaskStarted{kAgent, "task-1", "make", "/w"},
       BackgroundTaskFinished{kAgent, "task-1", TaskStatus::Finished}},
      {MemorySearchStarted{kAgent, 5, "where"}, MemorySearchFinished{kAgent, true, 2, {}}},
      {MemoryIngestStarted{kAgent, 7}, MemoryIngestFinished{kAgent, 7, true, 3, {}}},
      {MemoryCompactionProposed{kAgent, 8, "transcripts/8"}, MemoryCompactionApplied{kAgent, 8, 4}},
      {MemoryCompactionProposed{kAgent, 9, "transcripts/9"}, MemoryCompactionSkipped{kAgent, 9}}};
  for (const auto& [start, finish] : pairs) {
    EXPECT_EQ(engine->emit(finish).error().cause, "not_started") << event_type(finish);
    EXPECT_TRUE(engine->emit(start)) << event_type(start);
    EXPECT_TRUE(engine->emit(finish)) << event_type(finish);
    EXPECT_EQ(engine->emit(finish).error().cause, "not_started") << event_type(finish);
  }
}

// EV-60 EV-61
TEST(EngineEmitTest, AHookThatRefusesAnAnnouncementStopsItAndItIsFinished) {
  bool refuses = true;
  const auto engine = opened(
      EngineBuilder("").hook("budget", [&](const Event& event, const Subject&) -> Result<void> {
        if (!refuses || event_type(event) == "recovery_prepared") return {};
        return fail(ErrorCode::Exhausted, "over");
      }));
  const Result<void> refused = engine->emit(started(), kRequest);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "event sink failed: budget");
  EXPECT_EQ(kinds_of(*engine), (Strings{"model_request_started", "model_request_finished"}));
  const json::object row = engine->events({.scope = kAgent})->back();
  EXPECT_EQ(row.at("payload").at("success"), json::value(false));
  EXPECT_EQ(row.at("payload").at("error"), json::value("event sink failed: budget"));
  refuses = false;
  EXPECT_TRUE(engine->emit(started(), kRequest));
}

// EV-51
TEST(EngineEmitTest, WhatAnEngineLeavesOpenIsFinishedByTheNextStart) {
  const TempFolder folder;
  {
    const auto engine = opened(EngineBuilder(folder.path()).threads(2));
    ASSERT_TRUE(engine->emit(started(), kRequest));
    ASSERT_TRUE(engine->emit(event::BackgroundTaskStarted{kAgent, "task-1", "make", "/w"}));
  }
  const auto engine = opened(EngineBuilder(folder.path()).threads(2));
  const auto rows = *engine->events({.scope = kAgent});
  ASSERT_EQ(rows.size(), 4u);
  for (const json::object& row : rows) {
    const json::value& payload = row.at("payload");
    if (payload.at("kind") == "model_request_finished") {
      EXPECT_TRUE(payload.at("error").as_string().starts_with("interrupted:"));
      EXPECT_EQ(row.at("session_id"), json::value(kSession));
    }
    if (payload.at("kind") == "background_task_finished") {
      EXPECT_EQ(payload.at("status"), json::value("interrupted"));
    }
  }
  EXPECT_EQ(engine->emit(finished(true), kRequest).error().cause, "not_started");
  EXPECT_TRUE(engine->emit(started(), kRequest));
}

// EV-6 EV-107 EV-109 EV-110
TEST(EngineEmitTest, AnEventThatIsNoneIsRefusedWithItsField) {
  const auto engine = opened(EngineBuilder("").threads(2));
  const auto where = [&](const Event& event, const Subject& subject = {}) {
    const Result<void> emitted = engine->emit(event, subject);
    return emitted ? std::string("emitted") : emitted.error().where;
  };
  EXPECT_EQ(where(event::ToolExecutionStarted{kAgent, "t", "1"}), "event.kind");
  EXPECT_EQ(where(event::RecoveryPrepared{"instance"}), "event.kind");
  EXPECT_EQ(where(event::RunAborted{kAgent, "because"}), "event.reason");
  EXPECT_EQ(where(event::RunAborted{kAgent, "cancelled"}), "emitted");
  EXPECT_EQ(where(started(0)), "event.attempt");
  EXPECT_EQ(where(started(std::uint64_t{1} << 53)), "event.attempt");
  EXPECT_EQ(where(event::MemoryIngestStarted{"", 1}), "event.agent_id");
  EXPECT_EQ(where(started(), {.agent_id = "agent:other"}), "subject.agent_id");
  EXPECT_EQ(where(event::PolicyDenied{kAgent, "model:m", "no"}), "emitted");
  EXPECT_EQ(where(event::AuthorizationDenied{kAgent, event::DeniedAction::ReadFile, "/etc"}),
            "emitted");
}

// EV-94
TEST(EngineEmitTest, TheBodyOfAnErrorIsRedactedAndCut) {
  const auto engine = opened(EngineBuilder("").threads(2));
  const ProviderError error =
      engine->http_error(500, "AKIAIOSFODNN7EXAMPLE " + std::string(10'000, 'x'));
  EXPECT_EQ(error.body.find("AKIAIOSFODNN7EXAMPLE"), std::string::npos);
  EXPECT_LE(error.body.size(), 4096u);
  EXPECT_TRUE(is_transient(error));
}

}  // namespace
}  // namespace sallyport::test
