// The ways to remove data from a ledger: erasure, retention, pruning, and holds against them.
#include "ledger/maintenance.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/approval/approval_state.h"
#include "core/call/idempotency.h"
#include "core/handoff/waiting_facts.h"
#include "support/ledger_checks.h"
#include "support/test_clock.h"

namespace sallyport::ledger {
namespace {

using test::controls;
using test::TestLedger;
using test::verdict;

std::string secret(int n) {
  return fmt::format("secret-{:04}-of-a-call", n);
}

core::Draft call(int n, std::size_t padding = 0) {
  core::Draft draft{.kind = core::Kind::ToolAudit,
                    .body = {{"input", secret(n) + std::string(padding, 'p')},
                             {"result", {{"said", secret(n)}}},
                             {"n", n}}};
  draft.subject.set(&Subject::call_id, fmt::format("call-{}", n));
  draft.subject.set(&Subject::session_id, fmt::format("session-{}", n / 10));
  draft.subject.set(&Subject::agent_id, "agent");
  return draft;
}

Result<Positions> erase_now(TestLedger& ledger, const Selection& selection) {
  auto done = ledger->transact(erase(selection, "ops", "asked to"));
  if (done) EXPECT_TRUE(ledger.store().scrub());
  return done;
}

// LE-57, LE-58
TEST(MaintenanceTest, ErasedBytesAreInNoFileOfTheDataFolder) {
  TestLedger ledger;
  ledger.open();
  // From values inside one page to values over many pages.
  constexpr std::size_t kPaddings[] = {0, 60, 300, 3000, 9000};
  constexpr int kCalls = 60;
  for (int n = 0; n < kCalls; ++n) ledger.append(call(n, kPaddings[n % 5]));
  EXPECT_FALSE(test::files_with(ledger.folder.path(), secret(7)).empty());
  // One by one: pages shrink, are merged and moved as their neighbours go.
  for (int n = 0; n < kCalls; n += 3) {
    ASSERT_TRUE(erase_now(ledger, {.call_id = fmt::format("call-{}", n)}));
  }
  for (int n = 0; n < kCalls; ++n) {
    EXPECT_EQ(test::files_with(ledger.folder.path(), secret(n)).empty(), n % 3 == 0) << n;
  }
  ASSERT_TRUE(erase_now(ledger, {.session_id = "session-4"}));
  for (int n = 40; n < 50; ++n) {
    EXPECT_TRUE(test::files_with(ledger.folder.path(), secret(n)).empty()) << n;
  }
  ASSERT_TRUE(erase_now(ledger, {.agent_id = "agent"}));
  EXPECT_EQ(test::files_with(ledger.folder.path(), "secret-"), std::vector<std::string>{});
  EXPECT_EQ(verdict(ledger.store()), "ok");
  ledger.close();
  EXPECT_EQ(test::files_with(ledger.folder.path(), "secret-"), std::vector<std::string>{});
}

// LE-57
TEST(MaintenanceTest, AnErasureIsRecordedWithWhoWhatAndWhy) {
  TestLedger ledger;
  ledger.open();
  for (int n = 0; n < 20; ++n) ledger.append(call(n));
  const Selection selection{.session_id = "session-1", .path = "/body/input"};
  ASSERT_TRUE(erase_now(ledger, selection));
  const std::vector<json::object> erased = controls(ledger.store(), "erased");
  ASSERT_EQ(erased.size(), 1u);
  EXPECT_EQ(erased[0].at("who"), "ops");
  EXPECT_EQ(erased[0].at("reason"), "asked to");
  EXPECT_EQ(erased[0].at("count"), json::value(10));
  EXPECT_EQ(erased[0].at("fields"), json::value(json::array{"/body/input"}));
  EXPECT_EQ(erased[0].at("selection"), json::value(selection.to_json()));
  for (const test::Seen& seen : test::all_entries(ledger.store())) {
    if (seen.entry.at("kind") != json::value("tool_audit")) continue;
    const bool gone = seen.entry.at("session_id") == json::value("session-1");
    EXPECT_EQ(seen.body.at("input").is_object(), gone);
    if (gone) EXPECT_EQ(seen.body.at("input").at("state"), "erased");
    EXPECT_TRUE(seen.body.at("result").as_object().contains("said"));
  }
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-57
TEST(MaintenanceTest, SelectionsReachByTimeAgentAndKindAndNothingSelectedIsSaid) {
  test::TestClock clock;
  TestLedger ledger;
  ledger.clock = &clock;
  ledger.open();
  ledger.append(call(1));
  clock.advance(std::chrono::hours(1));
  const WallTime between = clock.wall();
  clock.advance(std::chrono::hours(1));
  ledger.append(call(2));
  EXPECT_EQ(erase_now(ledger, {.agent_id = "nobody"}).error().code, ErrorCode::NotFound);
  EXPECT_EQ(erase_now(ledger, {.kind = "approval"}).error().code, ErrorCode::NotFound);
  ASSERT_TRUE(erase_now(ledger, {.kind = "tool_audit", .until = between}));
  EXPECT_TRUE(test::files_with(ledger.folder.path(), secret(1)).empty());
  EXPECT_FALSE(test::files_with(ledger.folder.path(), secret(2)).empty());
  EXPECT_EQ(erase_now(ledger, {.until = between}).error().code, ErrorCode::NotFound) << "twice";
  ASSERT_TRUE(erase_now(ledger, {.kind = "tool_audit", .since = between}));
  EXPECT_TRUE(test::files_with(ledger.folder.path(), secret(2)).empty());
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-57, LE-61: one different field is enough to be outside the scope, and a time span excludes its
// end.
TEST(MaintenanceTest, ASelectionReachesExactlyWhatItNames) {
  const WallTime time = *from_rfc3339("2026-03-01T10:00:00.000Z");
  const auto tick = std::chrono::milliseconds(1);
  const EntryView entry{.kind = "tool_audit",
                        .recorded_at = "2026-03-01T10:00:00.000Z",
                        .call_id = "c",
                        .session_id = "s",
                        .agent_id = "a"};
  const struct {
    Selection selection;
    bool reaches;
  } kCases[] = {
      {{}, true},
      {{.call_id = "c"}, true},
      {{.call_id = "x"}, false},
      {{.session_id = "s"}, true},
      {{.session_id = "x"}, false},
      {{.agent_id = "a"}, true},
      {{.agent_id = "x"}, false},
      {{.kind = "tool_audit"}, true},
      {{.kind = "intent"}, false},
      {{.call_id = "c", .session_id = "s", .agent_id = "a", .kind = "tool_audit"}, true},
      {{.call_id = "c", .session_id = "s", .agent_id = "a", .kind = "intent"}, false},
      {{.call_id = "x", .session_id = "s", .agent_id = "a", .kind = "tool_audit"}, false},
      {{.since = time}, true},
      {{.since = time + tick}, false},
      {{.until = time}, false},
      {{.until = time + tick}, true},
      {{.since = time, .until = time + tick}, true},
      {{.path = "/body/input"}, true},
      {{.path = "/body/input/text"}, true},
      {{.path = "/body"}, true},
      {{.path = "/body/inp"}, false},
      {{.path = "/body/input/text/more"}, false},
      {{.call_id = "x", .path = "/body/input"}, false},
  };
  for (const auto& [selection, reaches] : kCases) {
    EXPECT_EQ(selects(selection, entry, "/body/input/text"), reaches) << selection.to_json();
    EXPECT_EQ(selection.empty(), selection.to_json().empty()) << selection.to_json();
    const Result<Selection> again = Selection::from_json(selection.to_json());
    ASSERT_TRUE(again) << selection.to_json();
    EXPECT_EQ(again->to_json(), selection.to_json());
  }
  EntryView timeless = entry;
  timeless.recorded_at = "then";
  EXPECT_FALSE(selects({.since = time}, timeless, "/body"));
  EXPECT_FALSE(selects({.until = time}, timeless, "/body"));
  EXPECT_EQ(Selection::from_json(json::array{}).error().code, ErrorCode::Corrupt);
  EXPECT_EQ(Selection::from_json(json::object{{"kind", 1}}).error().code, ErrorCode::Corrupt);
}

// LE-57: an erasure of more fields than its entry names records how many; the names stay distinct.
TEST(MaintenanceTest, AnErasureNamesAHundredFieldsAndCountsAll) {
  TestLedger ledger;
  ledger.open();
  for (int n = 0; n < 2; ++n) {
    core::Draft draft = call(n);
    json::object many;
    for (int field = 0; field < 120; ++field) {
      many[fmt::format("f{}", field)] = json::object{{"input", "text"}};
    }
    draft.body["many"] = std::move(many);
    ledger.append(draft);
  }
  ASSERT_TRUE(erase_now(ledger, {.session_id = "session-0", .path = "/body/many"}));
  const json::object erased = controls(ledger.store(), "erased").at(0);
  EXPECT_EQ(erased.at("count"), json::value(240));
  EXPECT_EQ(erased.at("fields").as_array().size(), 100u);
  std::set<std::string> names;
  for (const json::value& name : erased.at("fields").as_array()) names.emplace(name.as_string());
  EXPECT_EQ(names.size(), erased.at("fields").as_array().size());
}

// LE-60: the entry at the end of a prune stays; a prune may reach the end of the log.
TEST(MaintenanceTest, PruningReachesTheEndOfTheLogAndNoFurther) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(5);
  const std::uint64_t size = test::all_entries(ledger.store()).size();
  EXPECT_EQ(ledger->transact(prune(size + 1, "ops", "far")).error().code, ErrorCode::InvalidInput);
  ASSERT_TRUE(ledger->transact(prune(size, "ops", "all")));
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-61: each hold reports its own reason, even if there are several.
TEST(MaintenanceTest, EachHoldTellsItsOwnReason) {
  TestLedger ledger;
  ledger.open();
  ASSERT_TRUE(ledger->transact(set_hold("one", {.call_id = "call-1"}, "legal", "first reason")));
  ASSERT_TRUE(ledger->transact(set_hold("two", {.call_id = "call-2"}, "legal", "second reason")));
  const Result<void> read = ledger.store().read([](ReadView& view) -> Result<void> {
    const Result<std::vector<Hold>> found = holds(view);
    if (!found) return std::unexpected(found.error());
    std::map<std::string, std::string> reasons;
    for (const Hold& hold : *found) reasons[hold.id] = hold.reason;
    EXPECT_EQ(reasons, (std::map<std::string, std::string>{{"one", "first reason"},
                                                           {"two", "second reason"}}));
    return {};
  });
  EXPECT_TRUE(read);
}

// LE-59
TEST(MaintenanceTest, ReceiptsFromBeforeAndAfterAnErasureVerify) {
  TestLedger ledger;
  ledger.open();
  const std::uint64_t sequence = ledger.append(call(1)).sequence;
  const std::string before = test::receipt_of(ledger.store(), sequence);
  const std::string checkpoint = test::newest_checkpoint(ledger.store());
  ASSERT_TRUE(erase_now(ledger, {.call_id = "call-1"}));
  const std::string after = test::receipt_of(ledger.store(), sequence);
  const VerifierKey key =
      *VerifierKey::parse(controls(ledger.store(), "key_created").at(0).at("key").as_string());
  for (const std::string& receipt : {before, after}) {
    const Verification verified = verify_receipt(receipt, {.key = key});
    EXPECT_TRUE(verified.ok) << verified.step << ": " << verified.detail;
  }
  EXPECT_NE(before.find(secret(1)), std::string::npos);
  EXPECT_EQ(after.find(secret(1)), std::string::npos);
  EXPECT_NE(after.find(R"("openings":[])"), std::string::npos) << "no salt is left to guess with";
  EXPECT_EQ(verdict(ledger.store(), checkpoint), "ok");
}

// LE-61
TEST(MaintenanceTest, AHoldForbidsEraseAndPruneUntilItIsLifted) {
  TestLedger ledger;
  ledger.open();
  for (int n = 0; n < 12; ++n) ledger.append(call(n));
  ASSERT_TRUE(ledger->transact(set_hold("case-7", {.call_id = "call-3"}, "legal", "a lawsuit")));
  for (const Selection& selection :
       {Selection{.call_id = "call-3"}, Selection{.session_id = "session-0"}}) {
    const auto refused = erase_now(ledger, selection);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
    EXPECT_NE(refused.error().message.find("case-7"), std::string::npos);
    EXPECT_NE(refused.error().message.find("a lawsuit"), std::string::npos);
  }
  EXPECT_FALSE(test::files_with(ledger.folder.path(), secret(4)).empty()) << "nothing by halves";
  EXPECT_EQ(ledger->transact(prune(8, "ops", "old")).error().code, ErrorCode::Conflict);
  ASSERT_TRUE(erase_now(ledger, {.session_id = "session-1"})) << "others may go";
  EXPECT_EQ(ledger->transact(set_hold("case-7", {}, "x", "y")).error().code, ErrorCode::Conflict);
  EXPECT_EQ(ledger->transact(lift_hold("case-8", "x", "y")).error().code, ErrorCode::NotFound);
  ledger.close();
  ledger.open();
  EXPECT_FALSE(erase_now(ledger, {.call_id = "call-3"})) << "a hold outlives a restart";
  ASSERT_TRUE(ledger->transact(lift_hold("case-7", "legal", "settled")));
  ASSERT_TRUE(erase_now(ledger, {.call_id = "call-3"}));
  EXPECT_EQ(controls(ledger.store(), "hold_set").at(0).at("hold"), "case-7");
  EXPECT_EQ(controls(ledger.store(), "hold_lifted").at(0).at("reason"), "settled");
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-61
TEST(MaintenanceTest, AHoldOnATimeSpanKeepsWhatLiesInIt) {
  test::TestClock clock;
  TestLedger ledger;
  ledger.clock = &clock;
  ledger.open();
  ledger.append(call(1));
  clock.advance(std::chrono::hours(1));
  const WallTime from = clock.wall();
  ledger.append(call(2));
  clock.advance(std::chrono::hours(1));
  const Selection span{.since = from, .until = clock.wall()};
  ASSERT_TRUE(ledger->transact(set_hold("span", span, "legal", "all of that hour")));
  EXPECT_FALSE(erase_now(ledger, {.call_id = "call-2"}));
  EXPECT_TRUE(erase_now(ledger, {.call_id = "call-1"}));
}

// LE-58: the reason of a hold was once also stored as a fact, which no erasure reached.
TEST(MaintenanceTest, TheReasonOfAHoldCanBeErased) {
  TestLedger ledger;
  ledger.open();
  ASSERT_TRUE(ledger->transact(set_hold("h", {.call_id = "call-1"}, "legal", "whispered-reason")));
  ASSERT_TRUE(erase_now(ledger, {.kind = "control"}));
  EXPECT_TRUE(test::files_with(ledger.folder.path(), "whispered-reason").empty());
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// Work of the writer thread itself has happened once a later append is answered.
void let_retention_run(TestLedger& ledger) {
  ledger.append(TestLedger::event({{"n", 0}}));
  ledger.append(TestLedger::event({{"n", 0}}));
}

// LE-60
TEST(MaintenanceTest, RetentionRemovesOpeningsAfterTheirAgeByKind) {
  test::TestClock clock;
  TestLedger ledger;
  ledger.clock = &clock;
  ledger.settings.retention = {{"tool_audit", std::chrono::hours(24)}};
  ledger.open();
  ledger.append(call(1));
  ledger.append(TestLedger::event({{"text", "kept-for-good"}}));
  clock.advance(std::chrono::hours(23));
  ledger.append(call(2));
  let_retention_run(ledger);
  EXPECT_FALSE(test::files_with(ledger.folder.path(), secret(1)).empty());
  clock.advance(std::chrono::hours(2));
  let_retention_run(ledger);
  EXPECT_TRUE(test::files_with(ledger.folder.path(), secret(1)).empty());
  EXPECT_FALSE(test::files_with(ledger.folder.path(), secret(2)).empty());
  EXPECT_FALSE(test::files_with(ledger.folder.path(), "kept-for-good").empty());
  EXPECT_EQ(controls(ledger.store(), "erased").at(0).at("who"), "retention");
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// A scrub that a reader prevented was once never tried again.
// LE-58, LE-60
TEST(MaintenanceTest, WhatRetentionErasedLeavesTheFilesOnceTheReaderHasEnded) {
  test::TestClock clock;
  TestLedger ledger;
  ledger.clock = &clock;
  ledger.settings.retention = {{"tool_audit", std::chrono::hours(24)}};
  ledger.open();
  ledger.append(call(1));
  let_retention_run(ledger);
  EXPECT_FALSE(ledger->owes_scrub());
  const Result<void> read = ledger.store().read([&](ReadView& view) -> Result<void> {
    EXPECT_GT(*view.size(), 0u);
    clock.advance(std::chrono::hours(25));
    let_retention_run(ledger);
    EXPECT_TRUE(ledger->owes_scrub());
    EXPECT_FALSE(test::files_with(ledger.folder.path(), secret(1)).empty());
    return {};
  });
  ASSERT_TRUE(read);
  clock.advance(std::chrono::seconds(6));
  let_retention_run(ledger);
  EXPECT_FALSE(ledger->owes_scrub());
  EXPECT_TRUE(test::files_with(ledger.folder.path(), secret(1)).empty());
}

// A process that ended while a reader kept the log once left the erased values to nobody.
// LE-58, LE-60
TEST(MaintenanceTest, TheNextProcessScrubsWhatRetentionErasedBefore) {
  test::TestClock clock;
  TestLedger ledger;
  ledger.clock = &clock;
  ledger.settings.retention = {{"tool_audit", std::chrono::hours(24)}};
  ledger.open();
  ledger.append(call(1));
  let_retention_run(ledger);
  {
    const auto other = store::SqliteStore::open({.file = ledger.file()});
    ASSERT_TRUE(other);
    const Result<void> read = (*other)->read([&](ReadView& view) -> Result<void> {
      EXPECT_GT(*view.size(), 0u);
      clock.advance(std::chrono::hours(25));
      let_retention_run(ledger);
      ledger.close();
      return {};
    });
    ASSERT_TRUE(read);
    EXPECT_FALSE(test::files_with(ledger.folder.path(), secret(1)).empty());
    ledger.open();
    let_retention_run(ledger);
    EXPECT_TRUE(test::files_with(ledger.folder.path(), secret(1)).empty());
  }
}

// LE-60, LE-61
TEST(MaintenanceTest, RetentionGoesOnBesideAHold) {
  test::TestClock clock;
  TestLedger ledger;
  ledger.clock = &clock;
  ledger.settings.retention = {{"tool_audit", std::chrono::hours(24)}};
  ledger.open();
  ledger.append(call(1));
  ledger.append(call(2));
  ASSERT_TRUE(ledger->transact(set_hold("h", {.call_id = "call-2"}, "legal", "a lawsuit")));
  clock.advance(std::chrono::hours(25));
  let_retention_run(ledger);
  EXPECT_TRUE(test::files_with(ledger.folder.path(), secret(1)).empty());
  EXPECT_FALSE(test::files_with(ledger.folder.path(), secret(2)).empty());
}

// LE-60
TEST(MaintenanceTest, PruningDropsBytesAndKeepsTheTree) {
  TestLedger ledger;
  ledger.open();
  ledger.append_many(700);
  const std::string checkpoint = test::newest_checkpoint(ledger.store());
  const std::string receipt = test::receipt_of(ledger.store(), 650);
  const auto pruned = ledger->transact(prune(600, "ops", "old"));
  ASSERT_TRUE(pruned) << pruned.error().message;
  EXPECT_EQ(verdict(ledger.store(), checkpoint), "ok");
  const json::object entry = controls(ledger.store(), "pruned").at(0);
  EXPECT_EQ(entry.at("minimum_index"), json::value(600));
  EXPECT_EQ(entry.at("count"), json::value(599)) << "all but the entry that tells the key";
  const VerifierKey key =
      *VerifierKey::parse(controls(ledger.store(), "key_created").at(0).at("key").as_string());
  EXPECT_TRUE(verify_receipt(receipt, {.key = key}).ok);
  EXPECT_TRUE(verify_receipt(test::receipt_of(ledger.store(), 650), {.key = key}).ok);
  const Result<void> gone = ledger.store().read([&](ReadView& view) -> Result<void> {
    EXPECT_EQ(make_receipt(view, 599, true).error().code, ErrorCode::NotFound);
    return {};
  });
  EXPECT_TRUE(gone);
  EXPECT_EQ(ledger->transact(prune(600, "ops", "again")).error().code, ErrorCode::NotFound);
  EXPECT_EQ(ledger->transact(prune(9000, "ops", "far")).error().code, ErrorCode::InvalidInput);
}

// A block that a prune had cut was once completed from bytes that no longer existed.
TEST(MaintenanceTest, ALedgerPrunedToItsEndGoesOnOverTheNextBlocks) {
  TestLedger ledger;
  ledger.open();
  core::Draft posted = TestLedger::event({{"n", 1}});
  posted.topic = "news";
  ledger.append(posted);
  ledger.append_many(300);
  ASSERT_TRUE(ledger->rotate_key(false));
  ASSERT_TRUE(ledger->transact(prune(304, "ops", "old")));
  ledger.append(posted);
  ledger.append_many(300);
  EXPECT_EQ(verdict(ledger.store()), "ok");
  ledger.close();
  ledger.open();
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-60
TEST(MaintenanceTest, ACallThatIsStillOpenIsNotPruned) {
  TestLedger ledger;
  ledger.open();
  core::Draft intent = call(1);
  intent.kind = core::Kind::Intent;
  intent.facts.push_back({"open_call", "call-1", ledger->instance_id()});
  ledger.append(intent);
  EXPECT_EQ(ledger->transact(prune(3, "ops", "old")).error().code, ErrorCode::Conflict);
}

core::Draft with_facts(core::Draft draft, std::vector<core::Fact> facts) {
  draft.facts = std::move(facts);
  return draft;
}

core::Fact question(const std::string& id, const std::string& call_id,
                    core::ApprovalStatus status = core::ApprovalStatus::Pending) {
  return core::ApprovalState{.status = status, .call_id = call_id}.fact(id);
}

// What a waiting call kept beside its entries once outlived its erasure, and a proposal still ran.
// LE-57, LE-58, AU-87
TEST(MaintenanceTest, ACallThatHasNotEndedIsNotErased) {
  const std::vector<std::vector<core::Fact>> kOpen = {
      {{"open_call", "call-1", "instance", true}},
      {{"handed_out", "call-1", "2026-03-02T10:00:00.000Z", true}},
      {{"waiting_call", "call-1", "apr-1"}, question("apr-1", "call-1")},
      {core::held_call("call-1", "apr-1", "instance"), question("apr-1", "call-1")},
      {{"approval_input", "apr-1", "sealed"}, question("apr-1", "call-1")},
  };
  for (const std::vector<core::Fact>& open : kOpen) {
    TestLedger ledger;
    ledger.open();
    ledger.append(with_facts(call(1), open));
    ledger.append(call(2));
    const auto refused = erase_now(ledger, {.session_id = "session-0"});
    ASSERT_FALSE(refused) << open[0].space;
    EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
    EXPECT_NE(refused.error().message.find("call `call-1` of entry 2 is still open"),
              std::string::npos)
        << refused.error().message;
    EXPECT_FALSE(test::files_with(ledger.folder.path(), secret(2)).empty()) << "nothing by halves";
    EXPECT_TRUE(erase_now(ledger, {.call_id = "call-2"})) << "others may go";
    ledger.append(with_facts(call(1), {{open[0].space, open[0].key, std::nullopt}}));
    EXPECT_TRUE(erase_now(ledger, {.call_id = "call-1"})) << open[0].space;
    EXPECT_TRUE(test::files_with(ledger.folder.path(), secret(1)).empty());
    EXPECT_EQ(verdict(ledger.store()), "ok");
  }
}

// LE-58: a prepared operation of a call with an unknown end, and a proposal whose process died.
TEST(MaintenanceTest, WhatIsKeptForAnEndedCallGoesWithItsContent) {
  TestLedger ledger;
  ledger.open();
  const auto kept = [&](int n) {
    const std::string id = fmt::format("call-{}", n);
    const std::string approval = fmt::format("apr-{}", n);
    const core::Idempotency::Row row{.call_id = id, .status = core::Idempotency::Status::Unknown};
    return with_facts(call(n), {question(approval, id, core::ApprovalStatus::Used),
                                {"proposed_call", approval, "sealed"},
                                core::Idempotency::fact("row-" + id, row),
                                {"prepared_call", "row-" + id, "sealed"}});
  };
  ledger.append(kept(1));
  ledger.append(kept(2));
  ASSERT_TRUE(erase_now(ledger, {.call_id = "call-1"}));
  const Result<void> read = ledger.store().read([](ReadView& view) -> Result<void> {
    EXPECT_EQ(*view.fact("proposed_call", "apr-1"), std::nullopt);
    EXPECT_EQ(*view.fact("prepared_call", "row-call-1"), std::nullopt);
    EXPECT_EQ(*view.fact("proposed_call", "apr-2"), "sealed");
    EXPECT_EQ(*view.fact("prepared_call", "row-call-2"), "sealed");
    return {};
  });
  EXPECT_TRUE(read);
  EXPECT_EQ(verdict(ledger.store()), "ok");
}

// LE-58, LE-60
TEST(MaintenanceTest, RetentionPassesOverACallThatIsOpen) {
  test::TestClock clock;
  TestLedger ledger;
  ledger.clock = &clock;
  ledger.settings.retention = {{"tool_audit", std::chrono::hours(24)}};
  ledger.open();
  ledger.append(call(1));
  ledger.append(with_facts(call(2), {{"waiting_call", "call-2", "apr-2"}}));
  clock.advance(std::chrono::hours(25));
  let_retention_run(ledger);
  EXPECT_TRUE(test::files_with(ledger.folder.path(), secret(1)).empty());
  EXPECT_FALSE(test::files_with(ledger.folder.path(), secret(2)).empty());
}

}  // namespace
}  // namespace sallyport::ledger
