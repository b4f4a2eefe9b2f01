// The guardrails of a policy on streams of a program, and their records in the ledger.
#include "engine_setup.h"
#include "ledger/read/query.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temp_folder.h"

namespace sallyport::test {
namespace {

constexpr const char* kPolicy = R"(version: 1
guardrails:
  checks:
    - {type: regex, stage: output, id: key, on_fail: redact, patterns: ["AKIA[A-Z0-9]{16}"]}
    - {type: blocklist, stage: output, id: code, words: [bluebird], replacement: "[stopped]"}
    - {type: blocklist, stage: output, id: note, on_fail: log, words: [maybe]}
    - {type: blocklist, stage: tool_use, id: drop, words: ["drop table"]}
)";

const Subject kStream{.session_id = kSession, .agent_id = kAgent};

std::uint64_t entries_of(const std::filesystem::path& folder, const std::string& kind) {
  const auto store = store::SqliteStore::open({.file = folder / "ledger.db"});
  std::uint64_t count = 0;
  EXPECT_TRUE(store && (*store)->read([&](ledger::ReadView& view) {
    ledger::Filter filter;
    filter.facets[ledger::Facet::Kind] = kind;
    return ledger::find_entries(
        view, filter, [&](const ledger::StoredEntry&, const ledger::EntryView&) -> Result<bool> {
          ++count;
          return true;
        });
  }));
  return count;
}

// GR-43 GR-44 GR-46 GR-72 GR-73
TEST(EngineGateTest, ARedactionIsOnRecordAndDoesNotDependOnTheCuts) {
  const TempFolder folder;
  for (const std::size_t size : {1u, 7u, 100u}) {
    const auto engine = opened(EngineBuilder(folder.path()).policy(kPolicy));
    const auto gate = engine->arm(GuardrailStage::Output, "", kStream);
    ASSERT_TRUE(gate && *gate);
    const std::string text = "key AKIAIOSFODNN7EXAMPLE and AKIAIOSFODNN7EXAMPLE ok";
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += size) {
      const Result<GateOutput> passed = (*gate)->push(text.substr(at, size));
      ASSERT_TRUE(passed);
      out += passed->text;
      EXPECT_EQ(out.find("AKIA"), std::string::npos);
    }
    out += (*gate)->finish()->text;
    EXPECT_EQ(out, "key [redacted] and [redacted] ok");
    EXPECT_EQ((*gate)->held(), 0u);
    EXPECT_EQ((*gate)->push("more").error().code, ErrorCode::Conflict);
    const TopicPage page = *engine->read_topic("guardrails");
    const json::value& told = page.events.back().payload;
    EXPECT_EQ(told.at("verdict"), json::value("redact"));
    EXPECT_EQ(told.at("redactions").to_number<int>(), 2);
    EXPECT_EQ(told.at("ran"), json::value(json::array{"key", "code", "note"}));
  }
  EXPECT_EQ(entries_of(folder.path(), "guard_hit"), 3u);  // the first of each stream
}

// GR-48 GR-49 GR-74
TEST(EngineGateTest, ABlockEndsTheStreamAndIsOnRecordOnce) {
  const TempFolder folder;
  {
    const auto engine = opened(EngineBuilder(folder.path()).policy(kPolicy));
    const auto gate = engine->arm(GuardrailStage::Output, "", kStream);
    ASSERT_TRUE(gate && *gate);
    EXPECT_EQ((*gate)->push("see blue")->text, "see ");
    const Result<GateOutput> blocked = (*gate)->push("bird and more");
    ASSERT_TRUE(blocked);
    EXPECT_TRUE(blocked->blocked);
    EXPECT_EQ(blocked->text, "[stopped]");
    ASSERT_EQ(blocked->hits.size(), 1u);
    EXPECT_EQ(blocked->hits[0].check, "code");
    EXPECT_EQ(blocked->hits[0].start, 4u);
    EXPECT_FALSE(blocked->hits[0].json.contains("matched"));
    EXPECT_EQ((*gate)->push("later")->text, "");
    EXPECT_EQ(engine->read_topic("guardrails")->events.size(), 1u);
  }
  EXPECT_EQ(entries_of(folder.path(), "guard_hit"), 1u);
}

// GR-50 GR-72
TEST(EngineGateTest, ALogHitHoldsNothingAndIsOnRecord) {
  const TempFolder folder;
  {
    const auto engine = opened(EngineBuilder(folder.path()).policy(kPolicy));
    const auto gate = engine->arm(GuardrailStage::Output);
    EXPECT_EQ((*gate)->push("maybe so")->text, "maybe so");
    (void)(*gate)->finish();
  }
  EXPECT_EQ(entries_of(folder.path(), "guard_hit"), 1u);
}

// GR-43
TEST(EngineGateTest, WithoutAFittingCheckThereIsNoGate) {
  const auto bare = opened(EngineBuilder("").threads(2));
  EXPECT_EQ(*bare->arm(GuardrailStage::Output), nullptr);
  EXPECT_EQ(*bare->arm_message(), nullptr);
  const auto engine = opened(EngineBuilder("").policy(kPolicy));
  EXPECT_EQ(*engine->arm(GuardrailStage::Input), nullptr);
  EXPECT_EQ(*engine->arm(GuardrailStage::ToolOutput, "fetch"), nullptr);
  EXPECT_EQ(engine->arm(GuardrailStage::Output, "fetch").error().where, "tool");
}

// GR-54 GR-55
TEST(EngineGateTest, ABlockedMessageStartsNoFurtherCall) {
  const auto engine = opened(EngineBuilder("").policy(kPolicy));
  const auto message = engine->arm_message(kStream);
  ASSERT_TRUE(message && *message);
  MessageGate& gate = **message;
  ASSERT_TRUE(gate.open_call("1", "sql"));
  EXPECT_EQ(gate.push_arguments("1", R"({"q":"select 1"})"), "");
  EXPECT_EQ(gate.close_call("1")->arguments, R"({"q":"select 1"})");
  EXPECT_EQ(gate.start_call("1"), true);
  ASSERT_TRUE(gate.open_call("2", "sql"));
  (void)gate.push_arguments("2", R"({"q":"drop table x"})");
  const Result<GatedCall> refused = gate.close_call("2");
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->arguments);
  EXPECT_NE(refused->reason.find("drop"), std::string::npos);
  ASSERT_EQ(refused->hits.size(), 1u);
  EXPECT_EQ(gate.start_call("2"), false);
  ASSERT_TRUE(gate.open_call("3", "sql"));
  (void)gate.push_arguments("3", R"({"q":"select 2"})");
  (void)gate.close_call("3");
  // Two channels: a match never spans both.
  EXPECT_EQ(gate.push(MessageChannel::Reasoning, "blue")->text, "");
  EXPECT_EQ(gate.push(MessageChannel::Text, "bird ")->text, "bird ");
  EXPECT_TRUE(gate.push(MessageChannel::Reasoning, "bird")->blocked);
  EXPECT_EQ(gate.push(MessageChannel::Text, "more")->text, "");
  EXPECT_EQ(gate.start_call("3"), false);
}

}  // namespace
}  // namespace sallyport::test
