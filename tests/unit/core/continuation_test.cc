#include "sallyport/continuation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>

#include "sallyport/idempotency_row.h"
#include "sallyport/outcome.h"
#include "unit/core/shape_checks.h"

namespace sallyport {
namespace {

const auto read = [](const json::value& value) { return continuation_from_json(value); };
const auto read_hand_off = [](const json::value& value) { return hand_off_from_json(value); };
const auto read_submission = [](const json::value& value) { return submission_from_json(value); };
const auto read_decision = [](const json::value& value) {
  return resume_decision_from_json(value);
};
const auto read_row = [](const json::value& value) { return idempotency_row_from_json(value); };

constexpr std::string_view kUsage =
    R"({"input_tokens":10,"output_tokens":2,"total_tokens":12,"cache_read_input_tokens":3,)"
    R"("cache_creation_input_tokens":4,"reasoning_tokens":5,"thoughts_tokens":6,)"
    R"("tool_input_tokens":7})";
constexpr std::string_view kResult =
    R"({"success":true,"output":"ok","data":{"n":1},"duration_ms":3})";
constexpr std::string_view kCall =
    R"({"id":"toolu_1","name":"transfer","display_name":"Transfer","tier":"Confirm",)"
    R"("input":{"to":"bob"},"effective_input":{"to":"bob"},"listen_context":)"
    R"({"operation_id":"op-7","revision":2,"snapshot":{"amount":40},)"
    R"("expires_at":"2026-11-15T12:00:00.000000Z"}})";

std::string continuation() {
  return fmt::format(
      R"({{"version":1,"id":"c-1","digest":"sha256:00","payload":{{"session_id":"s-1",)"
      R"("run_id":"r-1","turn":4,"total_usage":{0},"turn_usage":{0},"pending_tool_calls":[{1}],)"
      R"("awaiting_index":0,"completed_results":[["toolu_0",{2}]],"state":{{"k":[1]}},)"
      R"("response_id":"msg_1","stop_reason":"tool_use","response_content":[{{"type":"text"}}]}}}})",
      kUsage, kCall, kResult);
}

std::string submission() {
  return fmt::format(
      R"({{"continuation":{},"results":[{{"tool_call_id":"toolu_1","result":{}}}]}})",
      continuation(), kResult);
}

void add_call(Leniency& leniency, const std::string& at) {
  leniency.open.insert({at + "/input", at + "/effective_input", at + "/listen_context/snapshot"});
  leniency.optional.insert({at + "/listen_context", at + "/listen_context/expires_at"});
}

void add_result(Leniency& leniency, const std::string& at) {
  leniency.open.insert(at + "/data");
  leniency.optional.insert({at + "/data", at + "/duration_ms"});
}

Leniency continuation_at(const std::string& at) {
  const std::string payload = at + "/payload";
  Leniency leniency{.open = {payload + "/state"},
                    .optional = {payload + "/run_id", payload + "/response_id",
                                 payload + "/stop_reason", payload + "/response_content"}};
  for (const std::string usage : {"/total_usage", "/turn_usage"}) {
    for (const auto& member : parsed(kUsage).as_object()) {
      leniency.optional.insert(payload + usage + "/" + std::string(member.key()));
    }
  }
  // Content of the provider: any JSON in a list.
  leniency.optional.insert(payload + "/response_content/0/type");
  leniency.open.insert(payload + "/response_content/0/type");
  add_call(leniency, payload + "/pending_tool_calls/0");
  add_result(leniency, payload + "/completed_results/0/1");
  return leniency;
}

// AU-69
TEST(ContinuationTest, IsReadAndWrittenAgainByteForByte) {
  expect_round_trip(continuation(), read);
  json::value sparse = parsed(continuation());
  json::object& payload = sparse.at("payload").as_object();
  for (const char* const name : {"response_id", "stop_reason", "response_content"}) {
    payload.erase(name);
  }
  payload["run_id"] = nullptr;
  payload["pending_tool_calls"].at(0).as_object().erase("listen_context");
  payload["completed_results"] = json::array();
  expect_round_trip(canonical_json(sparse), read);
}

// AU-69
TEST(ContinuationTest, EveryMemberArrives) {
  const Result<Continuation> whole = read(parsed(continuation()));
  ASSERT_TRUE(whole) << whole.error().message;
  const Usage usage{.input_tokens = 10,
                    .output_tokens = 2,
                    .total_tokens = 12,
                    .cache_read_input_tokens = 3,
                    .cache_creation_input_tokens = 4,
                    .reasoning_tokens = 5,
                    .thoughts_tokens = 6,
                    .tool_input_tokens = 7};
  const PendingCall call{
      .id = "toolu_1",
      .name = "transfer",
      .display_name = "Transfer",
      .tier = Tier::Confirm,
      .input = {{"to", "bob"}},
      .effective_input = {{"to", "bob"}},
      .listen_context = Prepared{"op-7", 2, {{"amount", 40}}, "2026-11-15T12:00:00.000000Z"}};
  const ToolResult result{.success = true, .output = "ok", .data = {{"n", 1}}, .duration_ms = 3};
  const Continuation wanted{
      .version = 1,
      .id = "c-1",
      .digest = "sha256:00",
      .payload = {.session_id = "s-1",
                  .run_id = "r-1",
                  .turn = 4,
                  .total_usage = usage,
                  .turn_usage = usage,
                  .pending_tool_calls = {call},
                  .awaiting_index = 0,
                  .completed_results = {{"toolu_0", result}},
                  .state = parsed(R"({"k":[1]})"),
                  .response_id = "msg_1",
                  .stop_reason = "tool_use",
                  .response_content = parsed(R"([{"type":"text"}])").as_array()}};
  EXPECT_EQ(*whole, wanted);
}

// AU-69
TEST(ContinuationTest, AMemberThatIsMissingOrOfAnotherTypeIsNamed) {
  expect_each_member_is_checked(continuation(), "continuation", continuation_at(""), read);
  expect_refused(json::value(7), "continuation", read);
}

// AU-69
TEST(ContinuationTest, ACompletedResultIsAPairOfIdAndResult) {
  json::value value = parsed(continuation());
  json::value& pair = value.at_pointer("/payload/completed_results/0");
  const json::value result = parsed(kResult);
  for (const json::value& wrong :
       {json::value("toolu_0"), json::value(json::array()), json::value(json::array{"toolu_0"}),
        json::value(json::array{7, result}), json::value(json::array{"toolu_0", result, 1})}) {
    pair = wrong;
    expect_refused(value, "continuation.payload.completed_results[0]", read);
  }
  pair = json::array{"toolu_0", 7};
  expect_refused(value, "continuation.payload.completed_results[0][1]", read);
}

// AU-71 (partly)
TEST(ContinuationTest, AnotherVersionIsRefusedWhateverElseItHolds) {
  for (const std::string_view text :
       {R"({"version":2,"id":"c-1","digest":"d","payload":{}})", R"({"version":0})",
        R"({"version":2,"body":"of the future"})", R"({"version":"1"})", R"({"id":"c-1"})"}) {
    const Result<Continuation> read = continuation_from_text(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().cause, "continuation_version") << text;
    EXPECT_EQ(read.error().where, "continuation.version") << text;
    const Result<Submission> submitted =
        submission_from_text(fmt::format(R"({{"continuation":{},"results":[]}})", text));
    ASSERT_FALSE(submitted) << text;
    EXPECT_EQ(submitted.error().cause, "continuation_version") << text;
  }
  EXPECT_EQ(read(parsed(R"({"version":1})")).error().cause, "");
}

// AU-53
TEST(HandOffTest, IsReadAndWrittenAgainByteForByte) {
  const std::string text =
      fmt::format(R"({{"tool_calls":[{0},{0}],"continuation":{1}}})", kCall, continuation());
  expect_round_trip(text, read_hand_off);
  Leniency leniency = continuation_at("/continuation");
  add_call(leniency, "/tool_calls/0");
  add_call(leniency, "/tool_calls/1");
  expect_each_member_is_checked(text, "", leniency, read_hand_off);
}

// AU-53 AU-93 (partly)
TEST(HandOffTest, AnUnknownTierIsRefusedWithTheAcceptedOnes) {
  const std::string text =
      fmt::format(R"({{"tool_calls":[{}],"continuation":{}}})", kCall, continuation());
  expect_words(text, "/tool_calls/0/tier", "tool_calls[0].tier", {"Observe", "Confirm"},
               read_hand_off);
}

// AU-54
TEST(SubmissionTest, IsReadAndWrittenAgainByteForByte) {
  expect_round_trip(submission(), read_submission);
  Leniency leniency = continuation_at("/continuation");
  add_result(leniency, "/results/0/result");
  expect_each_member_is_checked(submission(), "", leniency, read_submission);
}

// AU-93 (partly)
TEST(SubmissionTest, UnknownMembersAreIgnored) {
  json::value value = parsed(submission());
  value.as_object()["client"] = "x";
  value.at("continuation").as_object()["note"] = 1;
  value.at_pointer("/continuation/payload").as_object()["note"] = 1;
  value.at_pointer("/results/0").as_object()["note"] = 1;
  const Result<Submission> read = submission_from_json(value);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, *submission_from_text(submission()));
}

std::string padded(std::string text, std::size_t size) {
  text.append(size - text.size(), ' ');
  return text;
}

// Returns the text with `state` nested so deep that the whole has `depth` levels.
std::string nested(std::string_view text, const char* state, std::size_t depth) {
  json::value value = parsed(text);
  const std::size_t above = std::count(state, state + std::strlen(state), '/');
  json::value deep = json::array();
  for (std::size_t i = above + 1; i < depth; ++i) deep = json::array{std::move(deep)};
  value.at_pointer(state) = std::move(deep);
  return canonical_json(value);
}

// AU-95 (partly)
TEST(SubmissionTest, WhatIsTooLongIsRefused) {
  EXPECT_TRUE(continuation_from_text(padded(continuation(), 8 * 1024 * 1024)));
  EXPECT_TRUE(submission_from_text(padded(submission(), 8 * 1024 * 1024)));
  const Result<Continuation> long_one =
      continuation_from_text(padded(continuation(), 8 * 1024 * 1024 + 1));
  ASSERT_FALSE(long_one);
  EXPECT_EQ(long_one.error().message, "continuation: 8388609 bytes, the limit is 8388608");
  EXPECT_FALSE(submission_from_text(padded(submission(), 8 * 1024 * 1024 + 1)));
}

// AU-95 (partly)
TEST(SubmissionTest, WhatIsNestedTooDeepIsRefused) {
  EXPECT_TRUE(continuation_from_text(nested(continuation(), "/payload/state", 64)));
  const Result<Continuation> deep =
      continuation_from_text(nested(continuation(), "/payload/state", 65));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().message, "continuation: nested deeper than 64");
  EXPECT_TRUE(submission_from_text(nested(submission(), "/continuation/payload/state", 64)));
  EXPECT_FALSE(submission_from_text(nested(submission(), "/continuation/payload/state", 65)));
}

// AU-95 (partly)
TEST(SubmissionTest, TextThatIsNoJsonIsRefusedWithItsPlace) {
  const Result<Submission> broken = submission_from_text("{\n\"results\":}");
  ASSERT_FALSE(broken);
  EXPECT_TRUE(broken.error().message.starts_with("submission: not JSON")) << broken.error().message;
  EXPECT_TRUE(broken.error().where.starts_with("2:")) << broken.error().where;
}

Submission submitted(const std::vector<std::string>& ids) {
  Submission submission;
  for (const std::string& id : ids) submission.results.push_back({id, {}});
  return submission;
}

// AU-55 (partly)
TEST(SubmissionTest, ExactlyOneResultPerCallHandedOutIsTaken) {
  const std::vector<PendingCall> calls{{.id = "a"}, {.id = "b"}};
  const std::vector<std::string> ids = ids_of(calls);
  EXPECT_TRUE(check_results(ids, submitted({"a", "b"})));
  EXPECT_TRUE(check_results(ids, submitted({"b", "a"})));
  EXPECT_TRUE(check_results({}, submitted({})));
  struct Case {
    std::vector<std::string> results;
    std::string cause;
    std::string id;
  };
  for (const auto& [results, cause, id] :
       {Case{{}, "missing_result", "a"}, Case{{"a"}, "missing_result", "b"},
        Case{{"a", "b", "c"}, "unknown_result", "c"}, Case{{"A", "b"}, "unknown_result", "A"},
        Case{{"a", "b", "a"}, "duplicate_result", "a"},
        Case{{"b", "b"}, "duplicate_result", "b"}}) {
    const Result<void> checked = check_results(ids, submitted(results));
    ASSERT_FALSE(checked) << cause;
    EXPECT_EQ(checked.error().cause, cause);
    EXPECT_TRUE(checked.error().message.starts_with("`" + id + "` ")) << checked.error().message;
  }
}

// AU-70 (partly)
TEST(ResumeDecisionTest, IsReadAndWrittenAgainByteForByte) {
  for (const std::string_view text :
       {R"({"kind":"approved"})", R"({"kind":"rejected","reason":"too much"})",
        R"({"kind":"timeout"})"}) {
    expect_round_trip(text, read_decision);
    expect_each_member_is_checked(text, "decision", {}, read_decision);
    EXPECT_EQ(to_string(read_decision(parsed(text))->kind), parsed(text).at("kind").as_string());
  }
  expect_words(R"({"kind":"approved"})", "/kind", "decision.kind", {"approved", "timeout"},
               read_decision);
  const std::string message = read_decision(parsed(R"({"kind":"yes"})")).error().message;
  EXPECT_NE(message.find("`rejected`"), std::string::npos) << message;
}

constexpr std::string_view kRow =
    R"({"session_id":"s-1","tool_call_id":"toolu_1","call_id":"0199",)"
    R"("request_digest":"hmac-sha256:00","tool_name":"transfer","display_name":"Transfer",)"
    R"("input":{"to":"bob"},"status":"Completed","result":{"success":true,"output":"ok",)"
    R"("data":null,"duration_ms":3},"operation_id":"op-7",)"
    R"("started_at":"2026-11-15T12:00:00.000000Z","completed_at":"2026-11-15T12:00:01.000000Z"})";

// AU-44
TEST(IdempotencyRowTest, IsReadAndWrittenAgainByteForByte) {
  expect_round_trip(kRow, read_row);
  json::value in_flight = parsed(kRow);
  for (const char* const name : {"result", "operation_id", "completed_at"}) {
    in_flight.at(name) = nullptr;
  }
  expect_round_trip(canonical_json(in_flight), read_row);
  Leniency leniency{.open = {"/input"}, .optional = {"/result", "/operation_id", "/completed_at"}};
  add_result(leniency, "/result");
  expect_each_member_is_checked(kRow, "row", leniency, read_row);
  expect_words(kRow, "/status", "row.status", {"InFlight", "Completed"}, read_row);
}

// AU-93
TEST(IdempotencyRowTest, AnUnknownKindTierOrStatusIsRefusedWithTheAcceptedOnes) {
  const Result<Outcome> lost = outcome_from_json({{"kind", "lost"}, {"reason", "r"}});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().where, "outcome.kind");
  for (const char* const word : {"lost", "blocked", "requires_confirmation", "cached", "replayed",
                                 "invalidated", "completed", "persistence_failed"}) {
    EXPECT_NE(lost.error().message.find(fmt::format("`{}`", word)), std::string::npos)
        << lost.error().message;
  }
  const std::string hand_off =
      fmt::format(R"({{"tool_calls":[{}],"continuation":{}}})", kCall, continuation());
  expect_words(hand_off, "/tool_calls/0/tier", "tool_calls[0].tier", {"Observe", "Confirm"},
               read_hand_off);
  expect_words(kRow, "/status", "row.status", {"InFlight", "Completed"}, read_row);
  json::value more = parsed(kRow);
  more.as_object()["region"] = "eu";
  ASSERT_TRUE(read_row(more));
  EXPECT_EQ(*read_row(more), *read_row(parsed(kRow)));
}

// AU-44
TEST(IdempotencyRowTest, AThreadIdIsReadAsTheSession) {
  json::value value = parsed(kRow);
  value.as_object().erase("session_id");
  value.as_object()["thread_id"] = "t-9";
  const Result<IdempotencyRow> row = read_row(value);
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->session_id, "t-9");
  EXPECT_FALSE(to_json(*row).contains("thread_id"));
  value.as_object()["session_id"] = "s-1";
  EXPECT_EQ(read_row(value)->session_id, "s-1");
  value.as_object().erase("session_id");
  value.as_object()["thread_id"] = 7;
  expect_refused(value, "row.thread_id", read_row);
}

}  // namespace
}  // namespace sallyport
