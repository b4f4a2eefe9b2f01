#include "sallyport/event.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>
#include <string>

#include "unit/core/event_samples.h"

namespace sallyport {
namespace {

using test::EventSample;
using test::kEventSamples;

Event read(std::string_view text) {
  const Result<Event> event = event_from_json(*parse_own_json(text));
  EXPECT_TRUE(event) << event.error().message << " in " << text;
  return event ? *event : Event{};
}

// EV-1 EV-3 EV-10 EV-11 EV-12 EV-13 EV-14 EV-15 EV-16 EV-17 EV-18 EV-19 EV-20 EV-21 EV-22 EV-23
// EV-24 EV-25 EV-26 EV-27 EV-28 EV-29 EV-30 EV-31 (their shapes only)
TEST(EventTest, EachKindIsReadAndWrittenByteForByte) {
  std::set<std::size_t> seen;
  for (const EventSample& sample : kEventSamples) {
    const Event event = read(sample.text);
    const std::string written = canonical_json(to_json(event));
    EXPECT_EQ(written, sample.text);
    EXPECT_EQ(read(written), event);
    EXPECT_EQ(canonical_json(to_json(read(written))), written);
    seen.insert(event.index());
  }
  EXPECT_EQ(seen.size(), 22u);
  EXPECT_EQ(seen.size(), std::variant_size_v<Event>);
}

// EV-4
TEST(EventTest, TheTypeIsTheKind) {
  for (const EventSample& sample : kEventSamples) {
    const Event event = read(sample.text);
    EXPECT_EQ(event_type(event), sample.kind);
    EXPECT_EQ(to_json(event).at("kind"), json::value(sample.kind));
  }
}

// EV-5
TEST(EventTest, TheScopeIsTheAgentExceptForARecovery) {
  for (const EventSample& sample : kEventSamples) {
    const std::string_view expected = sample.kind == "recovery_prepared" ? "i-1" : "agent:a";
    EXPECT_EQ(scope(read(sample.text)), expected) << sample.kind;
  }
}

// EV-60 (partly)
TEST(EventTest, EightKindsAnnounceAndFourteenReport) {
  std::size_t announcing = 0;
  for (const EventSample& sample : kEventSamples) {
    EXPECT_EQ(announces(read(sample.text)), sample.announces) << sample.kind;
    announcing += sample.announces ? 1 : 0;
  }
  EXPECT_EQ(announcing, 8u);
}

// EV-2
TEST(EventTest, OptionalFieldsWithoutAValueAreNullAndAbsentOnesAreReadAsNull) {
  std::size_t optional_fields = 0;
  for (const EventSample& sample : kEventSamples) {
    json::object bare = parse_own_json(sample.text)->as_object();
    json::object nulls = bare;
    for (const auto& member : parse_own_json(sample.text)->as_object()) {
      if (!test::is_optional(sample.kind, member.key())) continue;
      bare.erase(member.key());
      nulls[member.key()] = nullptr;
      ++optional_fields;
    }
    const Result<Event> event = event_from_json(bare);
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_EQ(canonical_json(to_json(*event)), canonical_json(nulls));
    EXPECT_EQ(*event_from_json(nulls), *event);
  }
  EXPECT_EQ(optional_fields, 10u);
}

// EV-1
TEST(EventTest, CodeFillsInPlainStructs) {
  const Event event = event::ModelRequestStarted{.agent_id = "agent:a", .model = "m", .attempt = 1};
  EXPECT_EQ(json::serialize(to_json(event)),
            R"({"kind":"model_request_started","agent_id":"agent:a","model":"m","attempt":1})");
  const Event finished = event::ToolExecutionFinished{.agent_id = "a", .output_preview = "o"};
  EXPECT_EQ(json::serialize(to_json(finished)),
            R"({"kind":"tool_execution_finished","agent_id":"a","tool_name":"","tool_call_id":"",)"
            R"("is_error":false,"error":null,"output_preview":"o","details":null})");
}

// EV-7
TEST(EventTest, AnOutputPreviewIsWrittenUpTo4096BytesAndNeverHalfACharacter) {
  event::ToolExecutionFinished finished{.agent_id = "a"};
  finished.output_preview = std::string(4096, 'x');
  EXPECT_EQ(to_json(finished).at("output_preview").as_string().size(), 4096u);
  finished.output_preview = std::string(4095, 'x') + "é and more";
  EXPECT_EQ(to_json(finished).at("output_preview"), json::value(std::string(4095, 'x')));
}

// EV-7
TEST(EventTest, AQueryPreviewIsWrittenUpTo120CodePoints) {
  std::string euros;
  for (int i = 0; i < 120; ++i) euros += "€";
  event::MemorySearchStarted started{.agent_id = "a", .query_preview = euros};
  EXPECT_EQ(to_json(started).at("query_preview"), json::value(euros));
  started.query_preview += "x";
  EXPECT_EQ(to_json(started).at("query_preview"), json::value(euros));
}

// EV-3 EV-7
TEST(EventTest, ACutEventIsWrittenTheSameTheSecondTime) {
  const Event event = event::ToolExecutionFinished{.output_preview = std::string(9000, 'x')};
  const std::string first = canonical_json(to_json(event));
  EXPECT_EQ(canonical_json(to_json(read(first))), first);
}

}  // namespace
}  // namespace sallyport
