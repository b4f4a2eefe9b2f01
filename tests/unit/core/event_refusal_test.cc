#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <string>
#include <vector>

#include "sallyport/event.h"
#include "unit/core/event_samples.h"

namespace sallyport {
namespace {

using test::EventSample;
using test::kEventSamples;

Error refusal(const json::value& value) {
  const Result<Event> event = event_from_json(value);
  EXPECT_FALSE(event) << json::serialize(value);
  if (event) return {};
  EXPECT_EQ(event.error().code, ErrorCode::InvalidInput);
  return event.error();
}

json::object object_of(const EventSample& sample) {
  return parse_own_json(sample.text)->as_object();
}

json::object object_of(std::string_view kind) {
  for (const EventSample& sample : kEventSamples) {
    if (sample.kind == kind) return object_of(sample);
  }
  ADD_FAILURE() << "no sample of " << kind;
  return {};
}

// EV-109
TEST(EventRefusalTest, EachMissingFieldOfEachKindIsRefusedByName) {
  std::size_t refused = 0;
  for (const EventSample& sample : kEventSamples) {
    const json::object good = object_of(sample);
    for (const auto& member : good) {
      if (test::is_optional(sample.kind, member.key())) continue;
      json::object broken = good;
      broken.erase(member.key());
      const Error error = refusal(broken);
      EXPECT_EQ(error.where, "event." + std::string(member.key())) << sample.kind;
      EXPECT_NE(error.message.find("is missing"), std::string::npos) << error.message;
      ++refused;
    }
  }
  EXPECT_EQ(refused, 93u);
}

// EV-109
TEST(EventRefusalTest, EachFieldOfEachKindIsRefusedByNameWhenItsTypeIsWrong) {
  const std::vector<json::value> others = {nullptr,        true,          7, -7, "a sentence",
                                           json::array{7}, json::object{}};
  for (const EventSample& sample : kEventSamples) {
    const json::object good = object_of(sample);
    for (const auto& member : good) {
      if (member.key() == "details") continue;
      for (const json::value& other : others) {
        const bool same_type = other.kind() == member.value().kind() && other != json::value(-7);
        const bool may_be_null = test::is_optional(sample.kind, member.key());
        if (same_type || (may_be_null && other.is_null())) continue;
        if (may_be_null && member.value().is_null() && other.is_string()) continue;
        json::object broken = good;
        broken[member.key()] = other;
        EXPECT_EQ(refusal(broken).where, "event." + std::string(member.key()))
            << sample.kind << json::serialize(other);
      }
    }
  }
}

// EV-109
TEST(EventRefusalTest, AnUnknownKindIsRefusedWithTheKnownOnes) {
  json::object value = object_of("run_aborted");
  value["kind"] = "run_finished";
  const Error error = refusal(value);
  EXPECT_EQ(error.where, "event.kind");
  EXPECT_NE(error.message.find("`run_finished`"), std::string::npos);
  for (const EventSample& sample : kEventSamples) {
    EXPECT_NE(error.message.find("`" + std::string(sample.kind) + "`"), std::string::npos);
  }
  EXPECT_EQ(refusal(json::array{}).where, "event");
}

// EV-109
TEST(EventRefusalTest, UnknownExtraFieldsAreIgnoredAndNotWritten) {
  for (const EventSample& sample : kEventSamples) {
    json::object value = object_of(sample);
    value["zz_extra"] = json::object{{"session_id", "s"}};
    const Result<Event> event = event_from_json(value);
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_EQ(canonical_json(to_json(*event)), sample.text);
  }
}

// EV-10 EV-12 EV-13 EV-22 (their words)
TEST(EventRefusalTest, EachWordOfEachListIsAcceptedAndNoOther) {
  const std::map<std::pair<std::string, std::string>, std::vector<std::string>> lists = {
      {{"authorization_denied", "action"},
       {"front_admission", "read_file", "list_files", "search_files", "write_file", "edit_file",
        "shell", "background_start", "background_limit"}},
      {{"tool_authorization_finished", "outcome"}, {"allow", "prompt", "deny"}},
      {{"tool_authorization_blocked", "outcome"}, {"prompt", "deny"}},
      {{"background_task_finished", "status"}, {"finished", "failed", "interrupted"}}};
  for (const auto& [place, words] : lists) {
    const auto& [kind, field] = place;
    json::object value = object_of(kind);
    for (const std::string& word : words) {
      value[field] = word;
      const Result<Event> event = event_from_json(value);
      ASSERT_TRUE(event) << event.error().message;
      EXPECT_EQ(to_json(*event).at(field), json::value(word));
    }
    value[field] = "perhaps";
    const Error error = refusal(value);
    EXPECT_EQ(error.where, "event." + field);
    EXPECT_NE(error.message.find("is `perhaps`"), std::string::npos) << error.message;
    for (const std::string& word : words) {
      EXPECT_NE(error.message.find("`" + word + "`"), std::string::npos) << error.message;
    }
  }
  json::object allowed_block = object_of("tool_authorization_blocked");
  allowed_block["outcome"] = "allow";
  EXPECT_EQ(refusal(allowed_block).message,
            "`event.outcome` is `allow`, it must be one of `prompt`, `deny`");
}

// EV-110
TEST(EventRefusalTest, EachTextThatIsNoUtf8AndEachNumberTooLargeIsRefusedByName) {
  for (const EventSample& sample : kEventSamples) {
    const json::object good = object_of(sample);
    for (const auto& member : good) {
      json::object broken = good;
      if (member.value().is_number()) {
        broken[member.key()] = 9007199254740992;
        EXPECT_EQ(refusal(broken).where, "event." + std::string(member.key())) << sample.kind;
      }
      if (!member.value().is_string()) continue;
      for (const std::string_view bad : {"\xff", "\xed\xa0\x80", "a\xc3"}) {
        broken[member.key()] = bad;
        EXPECT_EQ(refusal(broken).where, "event." + std::string(member.key())) << sample.kind;
      }
    }
  }
}

// EV-110
TEST(EventRefusalTest, FaultsInsidePreviewUsageAndDetailsHaveTheirPlace) {
  json::object authorization = object_of("tool_authorization_started");
  authorization["preview"].as_object()["durability"] = "Forever";
  EXPECT_EQ(refusal(authorization).where, "event.preview.durability");
  json::object response = object_of("model_response_finished");
  response["usage"].as_object()["input_tokens"] = -1;
  EXPECT_EQ(refusal(response).where, "event.usage.input_tokens");
  json::object execution = object_of("tool_execution_finished");
  for (const json::value& bad :
       std::initializer_list<json::value>{9007199254740992, 1e20, "\xff"}) {
    execution["details"] = json::array{bad};
    EXPECT_EQ(refusal(execution).where, "event.details");
  }
}

std::string field_refused(const Event& event) {
  const Result<void> checked = check(event);
  return checked ? "none" : checked.error().where;
}

// EV-110
TEST(EventRefusalTest, EventsThatCodeBuiltAreCheckedBeforeTheyAreWritten) {
  for (const EventSample& sample : kEventSamples) {
    EXPECT_TRUE(check(*event_from_json(object_of(sample)))) << sample.kind;
  }
  EXPECT_EQ(field_refused(event::PolicyDenied{.agent_id = "a", .reason = "\xed\xa0\x80"}),
            "event.reason");
  EXPECT_EQ(field_refused(event::ModelRequestStarted{.attempt = 1ULL << 53}), "event.attempt");
  EXPECT_EQ(field_refused(event::ToolExecutionFinished{.details = json::array{1ULL << 60}}),
            "event.details");
  EXPECT_EQ(field_refused(event::ModelResponseFinished{.usage = Usage{.total_tokens = 1ULL << 53}}),
            "event.usage.total_tokens");
  event::ToolAuthorizationStarted started;
  started.preview.capabilities = {Capability::custom("\xff")};
  EXPECT_EQ(field_refused(started), "event.preview.capabilities[0].Custom");
  EXPECT_EQ(check(event::ToolAuthorizationBlocked{.outcome = event::Authorization::Allow})
                .error()
                .message,
            "`event.outcome` is `allow`, it must be one of `prompt`, `deny`");
}

// EV-19 EV-32 EV-107
TEST(EventRefusalTest, FieldsThatContradictEachOtherAreNotWritten) {
  event::ToolExecutionFinished execution{.is_error = false, .error = "broken"};
  EXPECT_EQ(field_refused(execution), "event.error");
  execution.is_error = true;
  EXPECT_EQ(field_refused(execution), "none");
  event::ModelResponseFinished response{.success = false, .stop_reason = "end_turn"};
  EXPECT_EQ(field_refused(response), "event.stop_reason");
  response.success = true;
  EXPECT_EQ(field_refused(response), "none");
  EXPECT_EQ(field_refused(event::RunAborted{.reason = "bored"}), "event.reason");
  EXPECT_EQ(field_refused(event::RunAborted{.reason = "lease_lost"}), "none");
}

}  // namespace
}  // namespace sallyport
