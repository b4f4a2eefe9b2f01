// A Governor on a real ledger: the entries of a call on disk before, during and after a crash.
#include "support/governed_ledger.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <boost/json.hpp>
#include <future>
#include <map>

#include "core/handoff/interrupted_call.h"
#include "core/record/stored_record.h"
#include "support/governed.h"
#include "support/ledger_checks.h"
#include "support/unsynced_vfs.h"

namespace sallyport::core {
namespace {

using test::FakePreparer;
using test::FakeUpstream;
using test::FunctionApprover;
using test::Governed;

constexpr std::string_view kSecret = "AKIAIOSFODNN7EXAMPLE";

bool is_about(const test::Seen& seen, const std::string& call_id) {
  const json::value* const found = seen.entry.as_object().if_contains("call_id");
  return found != nullptr && *found == json::value(call_id);
}

class GovernedLedgerTest : public testing::Test, protected test::GovernedLedger {};

using Words = std::vector<std::string>;

// AU-3 AU-9
TEST_F(GovernedLedgerTest, PlaceAndTimeOfARecordAreTheLedgersAndStayOverARestart) {
  open();
  const std::string before = rfc3339(clock.wall());
  const Result<Answer> answer = call(Governed::read_file());
  const std::string after = rfc3339(clock.wall());
  ASSERT_TRUE(answer) << answer.error().message;
  const AuditRecord record = *audit_record_of(*ledger->entry(answer->sequence));
  EXPECT_EQ(record.sequence, answer->sequence);
  EXPECT_EQ(record.call_id, answer->call_id);
  EXPECT_LE(before, record.recorded_at);
  EXPECT_LE(record.recorded_at, after);
  EXPECT_TRUE(record.recorded_at.ends_with("Z"));
  std::uint64_t last = 0;
  for (const test::Seen& seen : test::all_entries(ledger.store())) {
    if (!is_about(seen, answer->call_id)) continue;
    EXPECT_GT(seen.stored.sequence, last);
    last = seen.stored.sequence;
  }
  EXPECT_EQ(last, answer->sequence);
  close();
  open();
  EXPECT_EQ(*audit_record_of(*ledger->entry(answer->sequence)), record);
}

// AU-91
TEST_F(GovernedLedgerTest, TheEntriesOfACallTellItsWholeStory) {
  plan.autonomy(Autonomy::ActWithApproval);
  approver = std::make_shared<FunctionApprover>(
      [](const Question&) { return Reply::approve("user:ada"); });
  open();
  const Result<Answer> other = call({.agent_id = "agent:b", .tool = "other"});
  const Result<Answer> answer = call(Governed::read_file());
  ASSERT_TRUE(answer);
  Words story;
  for (const test::Seen& seen : test::all_entries(ledger.store())) {
    if (!is_about(seen, answer->call_id)) continue;
    const json::object& body = seen.body.as_object();
    std::string line(seen.entry.at("kind").as_string());
    for (const char* const name : {"kind", "state", "outcome"}) {
      const json::value* const word = body.if_contains(name);
      if (word == nullptr) continue;
      line +=
          " " + std::string(word->is_string() ? word->get_string() : word->at("kind").as_string());
    }
    story.push_back(line);
  }
  EXPECT_EQ(
      story,
      (Words{"event tool_authorization_started", "event tool_authorization_finished prompt",
             "event tool_authorization_blocked prompt", "tool_audit requires_confirmation",
             "topic hitl.approval_requested", "approval approval pending",
             "topic hitl.response_received", "approval", "topic hitl.approval_approved",
             "approval approved", "event tool_authorization_started",
             "event tool_authorization_finished allow", "intent", "event tool_execution_started",
             "event tool_execution_finished", "tool_audit completed"}));
}

// AU-92
TEST_F(GovernedLedgerTest, TheReceiptOfEveryRecordVerifies) {
  tool_answers([](Call, std::stop_token) -> Task<Envelope> {
    co_return Envelope::of(json::value("key " + std::string(kSecret)));
  });
  open();
  ASSERT_TRUE(call(Governed::read_file()));
  ASSERT_TRUE(call(Governed::read_file()));  // cached
  Call conflict = Governed::read_file();
  conflict.input = nullptr;
  ASSERT_TRUE(call(conflict));  // blocked
  const std::string key(test::controls(ledger.store(), "started").at(0).at("key").as_string());
  const ledger::Trust trust{.key = *ledger::VerifierKey::parse(key)};
  ASSERT_EQ(records().size(), 3u);
  for (const AuditRecord& record : records()) {
    for (const bool openings : {true, false}) {
      const std::string receipt = test::receipt_of(ledger.store(), record.sequence, openings);
      const ledger::Verification verified = ledger::verify_receipt(receipt, trust);
      EXPECT_TRUE(verified.ok) << verified.step << ": " << verified.detail;
      EXPECT_EQ(verified.sequence, record.sequence);
      EXPECT_EQ(verified.kind, "tool_audit");
    }
  }
  EXPECT_EQ(test::verdict(ledger.store()), "ok");
}

// AU-81 AU-82 AU-83 AU-86
TEST_F(GovernedLedgerTest, RedactionChangesWhatIsStoredAndNothingElse) {
  const json::value input{{"note", "use " + std::string(kSecret) + " today"},
                          {"list", {1, std::string(kSecret), {{"password", "hunter2"}}}}};
  tool_answers([](Call asked, std::stop_token) -> Task<Envelope> {
    co_return Envelope::of({{"note", asked.input.at("note")}});
  });
  open();
  Call asked = Governed::read_file();
  asked.input = input;
  const Result<Answer> answer = call(asked);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(upstream->calls.at(0).input, input) << "what executes";
  EXPECT_EQ(answer->result.data.at("note"), input.at("note")) << "the first answer";
  EXPECT_EQ(files_with(kSecret), Words{});
  EXPECT_EQ(files_with("hunter2"), Words{});
  const AuditRecord record = *audit_record_of(*ledger->entry(answer->sequence));
  const json::object& stored = record.requested_input.as_object();
  const std::string note(stored.at("note").as_string());
  EXPECT_TRUE(note.starts_with("use [REDACTED:") && note.ends_with("] today")) << note;
  EXPECT_EQ(stored.at("list").as_array().size(), 3u);
  EXPECT_TRUE(stored.at("list").at(2).at("password").as_string().starts_with("[REDACTED:"));
  std::map<std::string, Redaction> by_path;
  for (const Redaction& redaction : record.redactions) by_path[redaction.path] = redaction;
  ASSERT_TRUE(by_path.contains("/requested_input/note"));
  ASSERT_TRUE(by_path.contains("/requested_input/list/1"));
  ASSERT_TRUE(by_path.contains("/requested_input/list/2/password"));
  ASSERT_TRUE(by_path.contains("/outcome/result/data/note"));
  const std::string digest = ledger->digest()(kSecret);
  for (const char* const path :
       {"/requested_input/note", "/requested_input/list/1", "/outcome/result/data/note"}) {
    EXPECT_EQ(by_path[path].digest, digest) << path;
    EXPECT_NE(note.find("[REDACTED:" + by_path[path].category + "]"), std::string::npos);
  }
}

// AU-51
TEST_F(GovernedLedgerTest, AStoredAnswerThatRedactionChangedIsServedRedacted) {
  tool_answers([](Call, std::stop_token) -> Task<Envelope> {
    co_return Envelope::of(json::value("key " + std::string(kSecret)));
  });
  open();
  EXPECT_EQ(call(Governed::read_file())->result.output, "key " + std::string(kSecret));
  const Result<Answer> again = call(Governed::read_file());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->outcome.kind, Outcome::Kind::Cached);
  EXPECT_TRUE(again->result.output.starts_with("key [REDACTED:")) << again->result.output;
  EXPECT_EQ(upstream->calls.size(), 1u);
}

// Fails to read text that holds `boom`.
class FaultyRedactor final : public Redactor {
 public:
  std::vector<Removal> redact(std::string_view, json::value& value) const override {
    if (canonical_json(value).find("boom") != std::string::npos) throw std::runtime_error("boom");
    return {};
  }
  bool redact_identifier(std::string&) const override { return false; }
};

// AU-85
TEST_F(GovernedLedgerTest, WhatTheRedactorCannotReadIsNotStored) {
  const FaultyRedactor faulty;
  ledger.redactor = &faulty;
  tool_answers([](Call, std::stop_token) -> Task<Envelope> {
    co_return Envelope::of("boom goes the answer");
  });
  open();
  Call asked = Governed::read_file();
  asked.input = {{"path", "boom goes the input"}};
  const Result<Answer> answer = call(asked);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->result.output, "boom goes the answer");
  EXPECT_EQ(upstream->calls.at(0).input, asked.input);
  const json::object entry = *ledger->entry(answer->sequence);
  EXPECT_EQ(entry.at("body").at("requested_input"), "[REDACTED:unreadable]");
  EXPECT_EQ(files_with("boom goes"), Words{});
  close();
  EXPECT_EQ(files_with("boom goes"), Words{});
}

// AU-32 AU-35 AU-77 AU-78
TEST_F(GovernedLedgerTest, ACallWhoseProcessDiedIsClosedOnceAndNotRepeated) {
  die_while_running(Governed::read_file());
  open();
  const auto closed = records();
  ASSERT_EQ(closed.size(), 1u);
  EXPECT_EQ(closed[0].outcome.kind, Outcome::Kind::PersistenceFailed);
  EXPECT_TRUE(closed[0].outcome.text.starts_with("interrupted:")) << closed[0].outcome.text;
  EXPECT_FALSE(closed[0].outcome.result);
  EXPECT_EQ(closed[0].effect_state, EffectState::Unknown);
  EXPECT_TRUE(closed[0].terminal);
  EXPECT_EQ(closed[0].requested_input, Governed::read_file().input);
  EXPECT_TRUE(upstream->calls.empty()) << "recovery executes nothing";
  close();
  open();
  EXPECT_EQ(terminal_records(closed[0].call_id), 1u);
  const Result<Answer> again = call(Governed::read_file());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_TRUE(again->outcome.text.starts_with("unknown outcome:")) << again->outcome.text;
  EXPECT_TRUE(upstream->calls.empty());
  EXPECT_EQ(test::verdict(ledger.store()), "ok");
}

// AU-78
TEST_F(GovernedLedgerTest, AHarmlessCallWhoseProcessDiedRunsWhenItIsPresentedAgain) {
  plan.durability(IntentDurability::Strict).tool("", "read_file", {Tier::Observe, "none"});
  die_while_running(Governed::read_file());
  open();
  ASSERT_EQ(records().size(), 1u);
  EXPECT_TRUE(upstream->calls.empty());
  const Result<Answer> again = call(Governed::read_file());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(upstream->calls.size(), 1u);
}

// AU-77
TEST_F(GovernedLedgerTest, AProcessThatLivesKeepsItsCallsWhenAnotherStarts) {
  tool_answers([&](Call, std::stop_token) -> Task<Envelope> {
    const auto store = *store::SqliteStore::open({.file = ledger.file()});
    const auto beside = ledger::Ledger::open(
        {*store, test::storage_redactor(), clock, entropy, close_interrupted}, ledger.settings);
    EXPECT_TRUE(beside);
    EXPECT_TRUE(records().empty()) << "it closed a call that runs";
    co_return Envelope::of("hello");
  });
  open();
  const Result<Answer> answer = call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(terminal_records(answer->call_id), 1u);
}

// AU-78 AU-87
TEST_F(GovernedLedgerTest, AResumableOperationWithASecretInItIsExecutedAsItWasPrepared) {
  const auto preparer = std::make_shared<FakePreparer>();
  preparer->outlives = true;
  preparer->prepared.snapshot = {{"key", kSecret}};
  preparer->execute = [](Call, std::stop_token) -> Task<Envelope> { _exit(0); };
  tool = preparer;
  die_after([&] { (void)call(Governed::read_file()); });
  EXPECT_EQ(files_with(kSecret), Words{}) << "encrypted while its end is unknown";
  preparer->execute = {};
  open();
  ASSERT_EQ(outcomes(), Words{"persistence_failed"});
  const Result<Answer> again = call(Governed::read_file());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->outcome.kind, Outcome::Kind::Completed) << again->outcome.text;
  EXPECT_TRUE(preparer->preparations.empty()) << "not prepared again";
  ASSERT_EQ(preparer->calls.size(), 1u);
  EXPECT_EQ(preparer->calls[0].input.at("prepared_snapshot").at("key"), json::value(kSecret));
  EXPECT_EQ(preparer->calls[0].input.at("operation_id"), "op-1");
  EXPECT_EQ(preparer->calls[0].input.at("revision"), 3);
  EXPECT_TRUE(ledger->facts("prepared_call")->empty()) << "gone with the record of its end";
  EXPECT_EQ(files_with(kSecret), Words{});
}

// AU-49
TEST_F(GovernedLedgerTest, OfEqualCallsWithoutEffectFromTwoProcessesOneRuns) {
  plan.tool("", "read_file", {Tier::Observe, "none"});
  bool asked = false;
  tool_answers([&](Call, std::stop_token) -> Task<Envelope> {
    if (std::exchange(asked, true)) co_return Envelope::of("again");
    // Runs as another process would: with its own ledger, Governor and tool.
    const auto store = *store::SqliteStore::open({.file = ledger.file()});
    const auto beside = ledger::Ledger::open(
        {*store, test::storage_redactor(), clock, entropy, close_interrupted}, ledger.settings);
    EXPECT_TRUE(beside);
    Governor other({.plans = *plans,
                    .recorder = **beside,
                    .redactor = *ledger.redactor,
                    .clock = clock,
                    .entropy = entropy,
                    .digest = (*beside)->digest()});
    const auto unused = std::make_shared<FakeUpstream>();
    const Result<Answer> second = co_await other.run(Governed::read_file(), unused);
    EXPECT_TRUE(second);
    EXPECT_EQ(second->outcome, Outcome::blocked("in flight: call `toolu_1` is running"));
    EXPECT_TRUE(unused->calls.empty());
    co_return Envelope::of("hello");
  });
  open();
  const Result<Answer> first = call(Governed::read_file());
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->outcome.kind, Outcome::Kind::Completed);
  EXPECT_TRUE(asked);
  EXPECT_EQ(call(Governed::read_file())->outcome.kind, Outcome::Kind::Cached) << "and is let go";
}

// AU-88
TEST_F(GovernedLedgerTest, ASinkHearsOfTheRecordThatRecoveryWrites) {
  die_while_running(Governed::read_file());
  std::vector<AuditRecord> taken;
  sinks.push_back(std::make_shared<test::FunctionSink>("copy", [&](const AuditRecord& record) {
    taken.push_back(record);
    return Result<void>{};
  }));
  open();
  ASSERT_TRUE(test::run_now(governor->start()));
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken, records());
  EXPECT_TRUE(taken[0].outcome.text.starts_with("interrupted:")) << taken[0].outcome.text;
  ASSERT_TRUE(test::run_now(governor->start()));
  EXPECT_EQ(taken.size(), 1u) << "once";
}

// AU-88
TEST_F(GovernedLedgerTest, ASinkHearsOfARecordThatWasOwedWhenItIsWritten) {
  test::UnsyncedVfs& disk = test::UnsyncedVfs::get();
  disk.restart();
  ledger.vfs = test::UnsyncedVfs::kName;
  std::vector<AuditRecord> taken;
  sinks.push_back(std::make_shared<test::FunctionSink>("copy", [&](const AuditRecord& record) {
    taken.push_back(record);
    return Result<void>{};
  }));
  tool_answers([&](Call, std::stop_token) -> Task<Envelope> {
    disk.fail_at(1, SQLITE_IOERR_WRITE, true);
    co_return Envelope::of("hello");
  });
  open();
  std::promise<void> written;
  ledger->on_late_records([&] { written.set_value(); });
  EXPECT_FALSE(call(Governed::read_file())) << "what is not on record is not released";
  EXPECT_TRUE(taken.empty());
  disk.restart();
  ASSERT_EQ(written.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready)
      << "the writer pays its debts by itself";
  ASSERT_TRUE(test::run_now(governor->deliver_late_records()));
  EXPECT_EQ(taken, records());
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].outcome.kind, Outcome::Kind::PersistenceFailed);
  ASSERT_TRUE(test::run_now(governor->deliver_late_records()));
  EXPECT_EQ(taken.size(), 1u) << "once";
  close();
}

// AU-11
TEST_F(GovernedLedgerTest, DigestsAreMadeUnderAKeyOfTheFolder) {
  open();
  const auto digests_of = [](test::GovernedLedger& governed) {
    Call asked = Governed::read_file();
    asked.tool_call_id.clear();
    const AuditRecord record =
        *audit_record_of(*governed.ledger->entry(governed.call(asked)->sequence));
    return record.request_digest + " " + record.call_digest;
  };
  const std::string here = digests_of(*this);
  close();
  open();
  EXPECT_EQ(digests_of(*this), here) << "the same key after a restart";
  test::GovernedLedger elsewhere;
  elsewhere.open();
  EXPECT_NE(digests_of(elsewhere), here);
}

// AU-80
TEST_F(GovernedLedgerTest, AQuestionWaitsOverARestartUnlessItsPreparationDied) {
  plan.autonomy(Autonomy::ActWithApproval);
  for (const bool prepares : {false, true}) {
    tool = prepares ? std::shared_ptr<Upstream>(std::make_shared<FakePreparer>()) : upstream;
    Call asked = Governed::read_file();
    asked.tool_call_id = prepares ? "prepared" : "plain";
    die_after([&] { EXPECT_TRUE(call(asked, Caller{.holds = false})); });
    open();
    const AuditRecord last = records().back();
    EXPECT_EQ(last.tool_call_id, asked.tool_call_id);
    EXPECT_EQ(last.outcome.kind,
              prepares ? Outcome::Kind::Invalidated : Outcome::Kind::RequiresConfirmation);
    EXPECT_EQ(last.terminal, prepares);
    ASSERT_TRUE(last.approval_id);
    const Result<void> answered =
        test::run_now(governor->approvals().answer(*last.approval_id, Reply::approve("user:ada")));
    EXPECT_EQ(answered.has_value(), !prepares);
    EXPECT_TRUE(upstream->calls.empty());
  }
}

// AU-81
TEST_F(GovernedLedgerTest, WhatACrashLeavesHoldsNoSecretEither) {
  Call asked = Governed::read_file();
  asked.input = {{"note", "use " + std::string(kSecret)}};
  die_while_running(asked);
  EXPECT_EQ(files_with(kSecret), Words{});
  open();
  EXPECT_EQ(files_with(kSecret), Words{});
  ASSERT_EQ(records().size(), 1u);
  EXPECT_TRUE(records()[0].requested_input.at("note").as_string().starts_with("use [REDACTED:"));
}

// AU-20 AU-81
TEST_F(GovernedLedgerTest, AnArtifactIsRedactedLikeTheRecordThatNamesIt) {
  std::string output(60 * 1024, 'x');
  output += "\n" + std::string(kSecret) + "\n";
  tool_answers([output](Call, std::stop_token) -> Task<Envelope> {
    co_return Envelope::of(json::value(output));
  });
  open();
  const Result<Answer> answer = call(Governed::read_file());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->result.output, output);
  const AuditRecord record = *audit_record_of(*ledger->entry(answer->sequence));
  ASSERT_TRUE(record.outcome.result && record.outcome.result->artifact);
  const auto fact = *ledger->fact("artifact", std::to_string(*record.outcome.result->artifact));
  ASSERT_TRUE(fact);
  const json::object artifact = *ledger->entry(split_place(*fact)->sequence);
  const std::string kept(artifact.at("body").at("text").as_string());
  EXPECT_GT(kept.size(), 60u * 1024);
  EXPECT_NE(kept.find("[REDACTED:"), std::string::npos);
  EXPECT_EQ(files_with(kSecret), Words{});
}

}  // namespace
}  // namespace sallyport::core
