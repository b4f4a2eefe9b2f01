// Removals beside calls and questions that are open.
#include "ledger/open_calls.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/entropy.h"
#include "base/try.h"
#include "core/approval/escalations.h"
#include "core/handoff/left_call.h"
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

core::Fact question(core::ApprovalStatus status, WallTime until = {}) {
  return core::ApprovalState{.status = status, .call_id = "call-1", .expires_at = until}.fact(
      "apr-1");
}

// A ledger with a call that waits to be resumed, and with the turn that waits for it.
void add_waiting_call(TestLedger& ledger, const core::Fact& asked) {
  core::Draft draft = call(1);
  draft.facts = {{"waiting_call", "call-1", "apr-1"}, asked};
  ledger.append(draft);
  core::Draft turn{.kind = core::Kind::Topic,
                   .topic = "turns",
                   .body = {{"record", "turn_waits"}, {"continuation_id", "con-1"}}};
  turn.subject.set(&Subject::call_id, "call-1");
  turn.facts = {{"continuation", "con-1", "open"}, {"continuation_kept", "con-1", "sealed"}};
  ledger.append(turn);
}

Result<Positions> erase_session(TestLedger& ledger, WallTime now, json::object* seen = nullptr) {
  const EndLeft end = [seen](const json::object& entry, core::ApprovalStatus status) {
    if (seen != nullptr) *seen = entry;
    return std::vector{TestLedger::event({{"ended", to_string(status)}})};
  };
  return ledger->transact(erase({.session_id = "session-1"}, "ops", "asked to", Held::Refuse,
                                {.end = end, .now = now}));
}

// A call that was to be resumed and whose session never came back could never be erased.
// LE-57, LE-58, AP-21
TEST(OpenCallsTest, ACallThatWasLeftEndsWhenItIsErased) {
  using enum core::ApprovalStatus;
  const WallTime now = *from_rfc3339("2026-11-16T00:00:00Z");
  const std::pair<core::Fact, std::string> kOver[] = {
      {question(Denied), "denied"},
      {question(Cancelled), "cancelled"},
      {question(Expired), "expired"},
      // No process has recorded the expiry.
      {question(Pending, now - std::chrono::seconds(1)), "expired"}};
  for (const auto& [asked, status] : kOver) {
    TestLedger ledger;
    ledger.open();
    add_waiting_call(ledger, asked);
    json::object seen;
    const auto erased = erase_session(ledger, now, &seen);
    ASSERT_TRUE(erased) << status << erased.error().message;
    EXPECT_EQ(erased->size(), 2u) << "the erasure and the end";
    EXPECT_EQ(seen.at("body").at("input"), json::value()) << "no content is written again";
    EXPECT_EQ(seen.at("body").at("n"), json::value(1));
    const Result<void> read = ledger.store().read([](ReadView& view) -> Result<void> {
      EXPECT_EQ(*view.fact("waiting_call", "call-1"), std::nullopt);
      EXPECT_EQ(*view.fact("continuation", "con-1"), "closed");
      EXPECT_EQ(*view.fact("continuation_kept", "con-1"), std::nullopt);
      return {};
    });
    EXPECT_TRUE(read);
    EXPECT_EQ(test::verdict(ledger.store()), "ok");
  }
}

// LE-57
TEST(OpenCallsTest, ACallThatMayStillRunIsNotErased) {
  using enum core::ApprovalStatus;
  const WallTime now = *from_rfc3339("2026-11-16T00:00:00Z");
  for (const core::ApprovalStatus status : {Pending, Approved}) {
    TestLedger ledger;
    ledger.open();
    add_waiting_call(ledger, question(status, now + std::chrono::seconds(1)));
    const auto refused = erase_session(ledger, now);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
  }
  TestLedger retention;
  retention.open();
  add_waiting_call(retention, question(Denied));
  EXPECT_FALSE(retention->transact(erase({.session_id = "session-1"}, "retention", "age")))
      << "only a person ends a call";
}

// AP-21
TEST(OpenCallsTest, TheEndOfALeftCallIsATerminalRecordWithoutContent) {
  const json::object entry{{"kind", "tool_audit"},
                           {"call_id", "call-1"},
                           {"body",
                            {{"tool_call_id", "t"},
                             {"tier", "confirm"},
                             {"approval_id", "apr-1"},
                             {"effective_input", nullptr},
                             {"outcome", {{"kind", "requires_confirmation"}}}}}};
  const std::vector<core::Draft> drafts = core::close_left(entry, core::ApprovalStatus::Expired);
  ASSERT_EQ(drafts.size(), 1u);
  EXPECT_EQ(drafts[0].outcome, "blocked");
  const json::object body = drafts[0].body.members();
  EXPECT_EQ(body.at("terminal"), json::value(true));
  EXPECT_EQ(body.at("effective_input"), json::value());
  EXPECT_EQ(body.at("outcome").at("reason"), json::value("approval_expired"));
}

}  // namespace
}  // namespace sallyport::ledger
