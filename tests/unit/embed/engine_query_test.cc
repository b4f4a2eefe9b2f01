// Queries for records and events by every filter, and invalid queries.
#include <atomic>
#include <set>
#include <thread>

#include "engine_setup.h"
#include "support/temp_folder.h"

namespace sallyport::test {
namespace {

using Strings = std::vector<std::string>;

// A few calls that differ in every member that a query can filter.
class EngineQueryTest : public testing::Test {
 protected:
  EngineQueryTest() {
    open();
    add({.tool_call_id = "t-1",
         .agent_id = "agent:a",
         .session_id = "s-1",
         .server = "files",
         .tool = "look",
         .input = json::object{}});
    add({.tool_call_id = "t-2",
         .agent_id = "agent:b",
         .session_id = "s-1",
         .server = "files",
         .tool = "act",
         .input = json::object{}});
    add({.tool_call_id = "t-1",
         .agent_id = "agent:a",
         .session_id = "s-2",
         .server = "mail",
         .tool = "look",
         .input = json::object{}});
    add({.tool_call_id = "t-9",
         .agent_id = "agent:a",
         .session_id = "s-2",
         .server = "mail",
         .tool = "unknown",
         .input = json::object{}});
  }
  void open() {
    engine_.reset();
    EngineBuilder builder(folder_ / "data");
    builder.tool(CountedTool("look", kLooks).tool()).tool(CountedTool("act", kActs).tool());
    builder.approver([](const Question&) -> Result<Reply> { return Reply::approve(kPerson); });
    engine_ = opened(builder);
  }
  void add(Call call) {
    answers_.push_back(*engine_->call(std::move(call)));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // each has its own time
  }

  // Returns `tool_call_id outcome` of each record found.
  Strings found(const RecordQuery& query) {
    Strings lines;
    const auto records = engine_->records(query);
    if (!records) ADD_FAILURE() << records.error().message;
    for (const AuditRecord& record : *records) {
      lines.push_back(record.tool_call_id + ' ' + std::string(to_string(record.outcome.kind)));
    }
    return lines;
  }

  TempFolder folder_;
  std::unique_ptr<Engine> engine_;
  std::vector<Answer> answers_;
};

const Strings kAll{"t-1 completed", "t-2 requires_confirmation", "t-2 completed", "t-1 completed",
                   "t-9 blocked"};

// AU-90 (partly)
TEST_F(EngineQueryTest, EveryFilterFindsItsRecordsInWriteOrder) {
  EXPECT_EQ(found({}), kAll);
  EXPECT_EQ(found({.call_id = answers_[1].call_id}),
            (Strings{"t-2 requires_confirmation", "t-2 completed"}));
  EXPECT_EQ(found({.tool_call_id = "t-1"}), (Strings{"t-1 completed", "t-1 completed"}));
  EXPECT_EQ(found({.session_id = "s-2"}), (Strings{"t-1 completed", "t-9 blocked"}));
  EXPECT_EQ(found({.agent_id = "agent:b"}),
            (Strings{"t-2 requires_confirmation", "t-2 completed"}));
  EXPECT_EQ(found({.server = "mail"}), (Strings{"t-1 completed", "t-9 blocked"}));
  EXPECT_EQ(found({.tool = "look"}), (Strings{"t-1 completed", "t-1 completed"}));
  EXPECT_EQ(found({.outcome = "blocked"}), (Strings{"t-9 blocked"}));
  EXPECT_EQ(found({.approval_id = answers_[1].approval_id}),
            (Strings{"t-2 requires_confirmation", "t-2 completed"}));
  EXPECT_EQ(found({.terminal = false}), (Strings{"t-2 requires_confirmation"}));
  EXPECT_EQ(found({.terminal = true}).size(), 4u);
}

// AU-90 (partly)
TEST_F(EngineQueryTest, FiltersAreJoinedByAnd) {
  EXPECT_EQ(found({.tool_call_id = "t-1", .session_id = "s-2"}), (Strings{"t-1 completed"}));
  EXPECT_EQ(found({.session_id = "s-1", .outcome = "blocked"}), Strings());
  EXPECT_EQ(found({.agent_id = "agent:b", .terminal = true}), (Strings{"t-2 completed"}));
}

// AU-90 (partly)
TEST_F(EngineQueryTest, ATimeRangeBeginsAtItsStartAndEndsBeforeItsEnd) {
  const auto records = *engine_->records();
  EXPECT_EQ(found({.since = records[3].recorded_at}), (Strings{"t-1 completed", "t-9 blocked"}));
  EXPECT_EQ(found({.until = records[1].recorded_at}), (Strings{"t-1 completed"}));
  EXPECT_EQ(found({.since = records[3].recorded_at, .until = records[4].recorded_at}),
            (Strings{"t-1 completed"}));
  EXPECT_EQ(found({.since = "2999-01-01T00:00:00Z"}), Strings());
}

// AU-90 (partly)
TEST_F(EngineQueryTest, PagesByTheLastSequenceGiveAllRecordsOnce) {
  Strings lines;
  RecordQuery query{.limit = 2};
  while (true) {
    const auto page = engine_->records(query);
    ASSERT_TRUE(page);
    ASSERT_LE(page->size(), 2u);
    if (page->empty()) break;
    for (const AuditRecord& record : *page) {
      lines.push_back(record.tool_call_id + ' ' + std::string(to_string(record.outcome.kind)));
    }
    query.after = page->back().sequence;
  }
  EXPECT_EQ(lines, kAll);
}

// EV-111 (partly)
TEST_F(EngineQueryTest, WhatIsNoTimeOrEndsBeforeItBeginsIsAnError) {
  const auto refusal = [&](const std::string& since, const std::string& until) {
    const auto records = engine_->records({.since = since, .until = until});
    const auto events = engine_->events({.since = since, .until = until});
    const auto json = engine_->record_json({.since = since, .until = until});
    EXPECT_FALSE(records || events || json);
    if (records || events || json) return std::string();
    EXPECT_EQ(records.error().code, ErrorCode::InvalidInput);
    EXPECT_EQ(records.error(), events.error());
    EXPECT_EQ(records.error(), json.error());
    return records.error().where;
  };
  EXPECT_EQ(refusal("yesterday", ""), "since");
  EXPECT_EQ(refusal("", "2026-13-01T00:00:00Z"), "until");
  EXPECT_EQ(refusal("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"), "until");
}

// EV-111 (partly) AU-93 (partly)
TEST_F(EngineQueryTest, AnOutcomeOrATypeOfEventThatIsNoneIsAnError) {
  const auto records = engine_->records({.outcome = "nonsense"});
  ASSERT_FALSE(records);
  EXPECT_EQ(records.error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(records.error().where, "outcome");
  EXPECT_NE(records.error().message.find("`nonsense`; one of blocked, "), std::string::npos);
  const auto events = engine_->events({.event_type = "tool_exploded"});
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().where, "event_type");
}

// AU-1 (partly)
TEST_F(EngineQueryTest, RecordsAsJsonAreTheRecordsThatAreRead) {
  const auto records = *engine_->records();
  const auto objects = *engine_->record_json();
  ASSERT_EQ(objects.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(*audit_record_from_json(objects[i]), records[i]);
  }
}

// EV-79 (partly)
TEST_F(EngineQueryTest, EventsHaveTheirShapeAndRisingSequences) {
  const auto events = *engine_->events();
  ASSERT_FALSE(events.empty());
  std::optional<std::uint64_t> before;
  for (const json::object& row : events) {
    Strings names;
    for (const auto& member : row) names.emplace_back(member.key());
    std::ranges::sort(names);
    EXPECT_EQ(names,
              (Strings{"call_id", "event_type", "instance_id", "payload", "policy_hash",
                       "recorded_at", "run_id", "scope", "sequence", "session_id", "trace_id"}));
    EXPECT_EQ(row.at("payload").at("kind"), row.at("event_type"));
    const auto sequence = row.at("sequence").to_number<std::uint64_t>();
    if (before) EXPECT_GT(sequence, *before);
    before = sequence;
    EXPECT_TRUE(event_from_json(row.at("payload")));
  }
}

// EV-81 (partly)
TEST_F(EngineQueryTest, EventsAreFoundByEveryFilterJoinedByAnd) {
  const auto all = *engine_->events();
  const auto expect = [&](const EventQuery& query, auto&& matches) {
    std::vector<json::object> wanted;
    std::ranges::copy_if(all, std::back_inserter(wanted), matches);
    EXPECT_FALSE(wanted.empty());
    EXPECT_EQ(*engine_->events(query), wanted);
  };
  const auto is = [](const char* name, json::value value) {
    return [=](const json::object& row) { return row.at(name) == value; };
  };
  expect({.scope = "agent:b"}, is("scope", "agent:b"));
  expect({.event_type = "tool_execution_started"}, is("event_type", "tool_execution_started"));
  expect({.session_id = "s-2"}, is("session_id", "s-2"));
  expect({.call_id = answers_[0].call_id}, is("call_id", json::value(answers_[0].call_id)));
  const std::uint64_t middle = all[all.size() / 2].at("sequence").to_number<std::uint64_t>();
  expect({.after = middle}, [&](const json::object& row) {
    return row.at("sequence").to_number<std::uint64_t>() > middle;
  });
  const std::string time(all[all.size() / 2].at("recorded_at").as_string());
  expect({.since = time},
         [&](const json::object& row) { return row.at("recorded_at").as_string() >= time; });
  expect({.until = time},
         [&](const json::object& row) { return row.at("recorded_at").as_string() < time; });
  expect({.event_type = "tool_execution_started", .session_id = "s-2"},
         [&](const json::object& row) {
           return row.at("event_type") == "tool_execution_started" && row.at("session_id") == "s-2";
         });
  EXPECT_EQ(engine_->events({.limit = 3})->size(), 3u);
}

// EV-81 (partly)
TEST_F(EngineQueryTest, ARecoveryIsFoundByItsInstanceAndInNoOtherScope) {
  const auto prepared = *engine_->events({.event_type = "recovery_prepared"});
  ASSERT_EQ(prepared.size(), 1u);
  const std::string instance(prepared[0].at("scope").as_string());
  EXPECT_EQ(*engine_->events({.scope = instance, .event_type = "recovery_prepared"}), prepared);
  EXPECT_TRUE(engine_->events({.scope = "agent:a", .event_type = "recovery_prepared"})->empty());
}

// EV-77
TEST_F(EngineQueryTest, EachEventThatHooksHearIsExactlyOneRow) {
  std::vector<std::string> heard;  // scope, type and payload
  TempFolder folder;
  EngineBuilder builder(folder / "data");
  builder.tool(CountedTool("look", kLooks).tool());
  builder.hook("ears", [&](const Event& event, const Subject&) -> Result<void> {
    heard.push_back(std::string(scope(event)) + ' ' + std::string(event_type(event)) + ' ' +
                    canonical_json(to_json(event)));
    return {};
  });
  const auto engine = opened(builder);
  ASSERT_TRUE(engine->call(call_of("look", "t-1")));
  ASSERT_TRUE(engine->call(call_of("unknown", "t-2")));
  std::vector<std::string> rows;
  for (const json::object& row : *engine->events()) {
    EXPECT_EQ(row.at("payload").at("kind"), row.at("event_type"));
    rows.push_back(std::string(row.at("scope").as_string()) + ' ' +
                   std::string(row.at("event_type").as_string()) + ' ' +
                   canonical_json(row.at("payload")));
  }
  EXPECT_GT(rows.size(), 6u);
  EXPECT_EQ(rows, heard);
}

// EV-80
TEST_F(EngineQueryTest, SequencesRiseInWriteOrderAcrossTheProcessesOfOneLedger) {
  const std::uint64_t begin = engine_->events()->back().at("sequence").to_number<std::uint64_t>();
  EngineBuilder builder(folder_ / "data");
  builder.tool(CountedTool("look", kLooks).tool());
  const auto beside = opened(builder);
  Strings calls;
  for (int i = 0; i < 6; ++i) {
    Engine& engine = i % 2 == 0 ? *engine_ : *beside;
    calls.push_back(engine.call(call_of("look", "both-" + std::to_string(i)))->call_id);
  }
  const auto rows = *beside->events({.event_type = "tool_execution_finished", .after = begin});
  EXPECT_EQ(rows, *engine_->events({.event_type = "tool_execution_finished", .after = begin}));
  Strings seen;
  std::set<std::string> instances;
  std::uint64_t before = begin;
  for (const json::object& row : rows) {
    seen.emplace_back(row.at("call_id").as_string());
    instances.emplace(row.at("instance_id").as_string());
    EXPECT_GT(row.at("sequence").to_number<std::uint64_t>(), before);
    before = row.at("sequence").to_number<std::uint64_t>();
  }
  EXPECT_EQ(seen, calls);
  EXPECT_EQ(instances.size(), 2u);
}

// EV-83
TEST_F(EngineQueryTest, AReaderBesideWritersSeesAPrefixOfTheOrder) {
  std::atomic<bool> writing = true;
  std::thread writer([&] {
    for (int i = 0; i < 40; ++i) (void)engine_->call(call_of("look", "w-" + std::to_string(i)));
    writing = false;
  });
  std::vector<std::vector<json::object>> views;
  while (writing) views.push_back(*engine_->events());
  writer.join();
  const auto all = *engine_->events();
  for (const auto& view : views) {
    ASSERT_LE(view.size(), all.size());
    EXPECT_TRUE(std::equal(view.begin(), view.end(), all.begin()));
  }
}

// EV-82
TEST_F(EngineQueryTest, AfterARestartTheSameRowsComeInTheSameOrder) {
  const auto events = *engine_->events();
  const auto records = *engine_->record_json();
  open();
  auto again = *engine_->events();
  ASSERT_EQ(again.size(), events.size() + 1) << "the start has an event of its own";
  again.pop_back();
  EXPECT_EQ(again, events);
  EXPECT_EQ(*engine_->record_json(), records);
}

// AU-91 (partly) AU-38 (partly)
TEST_F(EngineQueryTest, ACallIdJoinsTheEventsAndRecordsOfOneCall) {
  const std::string& call_id = answers_[1].call_id;
  EXPECT_EQ(event_types_of(*engine_, {.call_id = call_id}),
            (Strings{"tool_authorization_started", "tool_authorization_finished",
                     "tool_authorization_blocked", "tool_authorization_started",
                     "tool_authorization_finished", "tool_execution_started",
                     "tool_execution_finished"}));
  EXPECT_EQ(outcomes_of(*engine_, {.call_id = call_id}),
            (Strings{"requires_confirmation", "completed"}));
}

}  // namespace
}  // namespace sallyport::test
