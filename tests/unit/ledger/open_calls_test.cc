// Removals beside calls and questions that are open.
#include "ledger/open_calls.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/entropy.h"
#include "base/try.h"
#include "core/approval/escalations.h"
#include "core/handoff/waiting_facts.h"
#include "ledger/maintenance.h"
#include "support/governed.h"
#include "support/ledger_checks.h"
#include "support/test_clock.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;

core::Draft call(int n) {
  core::Draft draft{.kind = core::Kind::ToolAudit,
                    .outcome = "requires_confirmation",
                    .body = {{"input", "secret-input"}, {"tool_call_id", "t"}, {"n", n}}};
  draft.subject.set(&Subject::call_id, fmt::format("call-{}", n));
  draft.subject.set(&Subject::session_id, "session-1");
  return draft;
}

// A prune once took the entries of a call that waited for a person, so it could never be answered.
// LE-57, LE-60
TEST(OpenCallsTest, ACallThatWaitsIsNotPruned) {
  const std::vector<std::vector<core::Fact>> kOpen = {
      {{"handed_out", "call-1", "2026-03-02T10:00:00.000Z", true}},
      {{"waiting_call", "call-1", "apr-1"}},
      {core::held_call("call-1", "apr-1", "instance")},
  };
  for (const std::vector<core::Fact>& open : kOpen) {
    TestLedger ledger;
    ledger.open();
    core::Draft asked = call(1);
    asked.facts = open;
    ledger.append(asked);
    const auto refused = ledger->transact(prune(3, "ops", "old"));
    ASSERT_FALSE(refused) << open[0].space;
    EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
    EXPECT_NE(refused.error().message.find("call `call-1` of entry 2 is still open"),
              std::string::npos)
        << refused.error().message;
  }
}

// A prune once took the entry that a question or an escalation is read from.
// LE-60, PI-80
TEST(OpenCallsTest, AnEntryThatAPersonStillNeedsIsNotPruned) {
  const auto state = [](core::ApprovalStatus status) {
    core::Fact fact = core::ApprovalState{.status = status}.fact("apr-1");
    fact.with_place = true;
    return fact;
  };
  const std::pair<core::Fact, std::string> kNeeded[] = {
      {state(core::ApprovalStatus::Pending), "approval `apr-1` still waits"},
      {{"escalation", "esc-1", "pending", true}, "escalation `esc-1` still waits"},
  };
  for (const auto& [fact, why] : kNeeded) {
    TestLedger ledger;
    ledger.open();
    core::Draft asked = TestLedger::event({{"text", "who"}});
    asked.facts = {fact};
    ledger.append(asked);
    const auto refused = ledger->transact(prune(3, "ops", "old"));
    ASSERT_FALSE(refused) << why;
    EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
    EXPECT_NE(refused.error().message.find(why), std::string::npos) << refused.error().message;
    core::Draft settled = TestLedger::event({{"text", "done"}});
    settled.facts = {
        {fact.space, fact.key,
         fact.space == "escalation" ? std::nullopt : state(core::ApprovalStatus::Denied).value,
         fact.space != "escalation"}};
    ledger.append(settled);
    EXPECT_TRUE(ledger->transact(prune(3, "ops", "old"))) << why;
  }
}

// One escalation whose entry an earlier release pruned once hid all others, and could not be
// accepted.
// PI-80, PI-82
TEST(OpenCallsTest, AnEscalationWithoutItsEntryIsListedAndCanBeSettled) {
  test::TestClock clock;
  SystemEntropy entropy;
  TestLedger ledger;
  ledger.open();
  core::Draft opened = TestLedger::event({{"text", "what"}});
  opened.facts = {{"escalation", "esc-1", "pending", true}};
  ledger.append(opened);
  ASSERT_TRUE(ledger->transact([](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_CHECK_OK(view.drop_bytes(2, 3));
    return std::vector{TestLedger::event({{"n", 1}})};
  }));
  core::Escalations escalations(*ledger, clock, entropy);
  const auto waiting = escalations.waiting();
  ASSERT_TRUE(waiting) << waiting.error().message;
  ASSERT_EQ(waiting->size(), 1u);
  EXPECT_EQ(waiting->front().message, "(its entry was pruned)");
  EXPECT_TRUE(test::run_now(escalations.settle("esc-1", true, "user:ada", "seen")));
  EXPECT_TRUE(escalations.waiting()->empty());
}

}  // namespace
}  // namespace sallyport::ledger
