#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "ledger/read/export.h"
#include "support/test_clock.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;

class OcsfTest : public testing::Test {
 protected:
  void SetUp() override {
    ledger_.clock = &clock_;
    ledger_.open();
  }

  json::object event(core::Draft draft) {
    const std::uint64_t sequence = ledger_.append(std::move(draft)).sequence;
    std::string line;
    EXPECT_TRUE(ledger_.store().read([&](ReadView& view) -> Result<void> {
      line = ocsf_line(**view.entry(sequence), "1.2").value();
      return {};
    }));
    return json::parse(line).as_object();
  }

  static core::Draft call(std::string outcome) {
    core::Draft draft{.kind = core::Kind::ToolAudit, .outcome = std::move(outcome)};
    draft.subject.set(&Subject::tool_name, "read");
    return draft;
  }

  test::TestClock clock_;
  TestLedger ledger_;
};

TEST_F(OcsfTest, ACallIsApiActivityWithWhoCalledWhat) {
  core::Draft draft = call("completed");
  draft.subject = Subject{.policy_hash = "sha256:ab",
                          .call_id = "call_1",
                          .session_id = "s",
                          .agent_id = "bot",
                          .server = "fs",
                          .tool_name = "read",
                          .trace_id = "t"};
  const json::object seen = event(std::move(draft));
  EXPECT_EQ(seen.at("class_uid"), 6003);
  EXPECT_EQ(seen.at("category_uid"), 6);
  EXPECT_EQ(seen.at("activity_id"), 99);
  EXPECT_EQ(seen.at("type_uid"), 600399);
  EXPECT_EQ(seen.at("time"), 1763172000000);
  EXPECT_EQ(seen.at("status"), "completed");
  EXPECT_EQ(seen.at("api"), (json::value{{"operation", "read"}, {"service", {{"name", "fs"}}}}));
  EXPECT_EQ(seen.at("actor").at("user").at("name"), "bot");
  EXPECT_FALSE(seen.contains("app"));
  for (const auto& [name, value] : {std::pair("call_id", "call_1"), std::pair("session_id", "s"),
                                    std::pair("policy_hash", "sha256:ab"),
                                    std::pair("trace_id", "t"), std::pair("kind", "tool_audit")}) {
    EXPECT_EQ(seen.at("unmapped").at(name), value);
  }
  EXPECT_EQ(seen.at("unmapped").at("leaf_hash").as_string().size(), 64u);
}

TEST_F(OcsfTest, WhatDoesNotApplyIsLeftOut) {
  const json::object seen = event(call("blocked"));
  EXPECT_EQ(seen.at("api"), (json::value{{"operation", "read"}}));
  EXPECT_FALSE(seen.at("unmapped").as_object().contains("call_id"));
  EXPECT_FALSE(event(call("")).contains("status"));
}

TEST_F(OcsfTest, TheGateItselfIsAnApplicationAndTheRestABaseEvent) {
  const auto kind = [&](core::Draft draft) {
    const json::object seen = event(std::move(draft));
    EXPECT_EQ(seen.contains("app"), seen.at("class_uid") == 6002);
    EXPECT_FALSE(seen.contains("api"));
    return std::pair(seen.at("class_uid").as_int64(), seen.at("activity_id").as_int64());
  };
  EXPECT_EQ(kind(control("started")), (std::pair<std::int64_t, std::int64_t>(6002, 3)));
  EXPECT_EQ(kind(control("stopped")), (std::pair<std::int64_t, std::int64_t>(6002, 4)));
  EXPECT_EQ(kind(control("gap")), (std::pair<std::int64_t, std::int64_t>(6002, 99)));
  EXPECT_EQ(kind(TestLedger::event({})), (std::pair<std::int64_t, std::int64_t>(0, 99)));
}

TEST_F(OcsfTest, SeverityAndStatusFollowTheOutcome) {
  const auto seen = [&](core::Draft draft) {
    const json::object made = event(std::move(draft));
    return std::pair(made.at("severity_id").as_int64(), made.at("status_id").as_int64());
  };
  using Seen = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(seen(call("completed")), Seen(1, 1));
  EXPECT_EQ(seen(call("cached")), Seen(1, 1));
  EXPECT_EQ(seen(call("replayed")), Seen(1, 1));
  EXPECT_EQ(seen(call("requires_confirmation")), Seen(3, 99));
  EXPECT_EQ(seen(call("blocked")), Seen(4, 2));
  EXPECT_EQ(seen(call("persistence_failed")), Seen(5, 2));
  EXPECT_EQ(seen(control("started")), Seen(1, 0));
}

// LE-50
TEST_F(OcsfTest, AnEntryThatWasChangedIsNoEvent) {
  const std::uint64_t sequence = ledger_.append(call("completed")).sequence;
  EXPECT_TRUE(ledger_.store().read([&](ReadView& view) -> Result<void> {
    StoredEntry stored = **view.entry(sequence);
    EXPECT_TRUE(ocsf_line(stored, "1"));
    EXPECT_TRUE(cef_line(stored, "1"));
    stored.bytes->replace(stored.bytes->find("completed"), 9, "Completed");
    EXPECT_EQ(ocsf_line(stored, "1").error().cause, "corrupt");
    EXPECT_EQ(cef_line(stored, "1").error().cause, "corrupt");
    EXPECT_EQ(sealed_line(stored).error().cause, "corrupt");
    return {};
  }));
}

}  // namespace
}  // namespace sallyport::ledger
