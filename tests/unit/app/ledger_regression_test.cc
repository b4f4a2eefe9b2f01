// Calls that once lost a record or put a secret on disk, on a real ledger with its redactor.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>
#include <stdexcept>

#include "core/record/stored_record.h"
#include "support/governed.h"
#include "support/governed_ledger.h"

namespace sallyport::core {
namespace {

using test::FakePreparer;
using test::FunctionApprover;
using test::FunctionGuard;
using test::Governed;
using Words = std::vector<std::string>;

constexpr std::string_view kSecret = "AKIAIOSFODNN7EXAMPLE";
constexpr std::string_view kNoText = "\xff";

std::shared_ptr<FunctionGuard> guard(Verdict verdict) {
  return std::make_shared<FunctionGuard>("odd", [verdict](const Call&) { return verdict; });
}

Verdict with_evidence(Verdict verdict, json::value evidence) {
  verdict.evidence = std::move(evidence);
  return verdict;
}

class LedgerRegressionTest : public testing::Test, protected test::GovernedLedger {
 protected:
  std::shared_ptr<FakePreparer> prepares() {
    const auto preparer = std::make_shared<FakePreparer>();
    tool = preparer;
    return preparer;
  }

  AuditRecord record_of(const Answer& answer) {
    return *audit_record_of(*ledger->entry(answer.sequence));
  }
};

// AU-80
TEST_F(LedgerRegressionTest, APreparedQuestionIsInvalidatedAlsoAfterAnOrderlyRestart) {
  plan.autonomy(Autonomy::ActWithApproval);
  prepares();
  open();
  const Result<Answer> waiting = call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(waiting) << waiting.error().message;
  close();
  open();
  EXPECT_EQ(outcomes(), (Words{"requires_confirmation, open", "invalidated"}));
  EXPECT_FALSE(test::run_now(
      governor->approvals().answer(waiting->approval_id, Reply::approve("user:ada"))));
}

// AU-32
TEST_F(LedgerRegressionTest, ACallThatRunsWhenItsProcessStopsInOrderIsClosedByTheNext) {
  tool_answers([](Call, std::stop_token) -> Task<Envelope> {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor,
                                    std::chrono::hours(1));
    co_await timer.async_wait(boost::asio::use_awaitable);
    co_return Envelope::of("never");
  });
  open();
  {
    boost::asio::io_context loop;
    boost::asio::co_spawn(loop, governor->run(Governed::read_file(), tool),
                          [](std::exception_ptr, Result<Answer>) {});
    while (upstream->calls.empty()) loop.run_one();
  }
  EXPECT_EQ(outcomes(), Words{});
  close();
  open();
  ASSERT_EQ(outcomes(), Words{"persistence_failed"});
  EXPECT_EQ(records()[0].effect_state, EffectState::Unknown);
  EXPECT_TRUE(records()[0].outcome.text.starts_with("interrupted:"));
}

// AU-13 AU-32
TEST_F(LedgerRegressionTest, EvidenceThatNoEntryHoldsIsLeftOutOfARecordThatIsWritten) {
  const json::value evidence(std::string(200'000, 'x'));
  struct Case {
    Verdict verdict;
    Autonomy autonomy;
    std::string outcome;
  };
  const Case cases[] = {
      {Verdict::deny("no"), Autonomy::ActAuto, "blocked"},
      {Verdict::allow(), Autonomy::ActAuto, "completed"},
      {Verdict::allow(), Autonomy::ActWithApproval, "requires_confirmation, open"}};
  for (const Case& one : cases) {
    test::GovernedLedger own;
    own.plan.autonomy(one.autonomy).guard(guard(with_evidence(one.verdict, evidence)));
    own.open();
    const Result<Answer> answer = own.call(Governed::read_file(), Caller{.holds = false});
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(own.outcomes(), Words{one.outcome});
    const std::vector<GuardRun> runs = own.records()[0].guards;
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].evidence, "[200002 bytes of evidence left out]");
    EXPECT_TRUE(own.ledger->ready());
  }
}

// AU-13 AU-32
TEST_F(LedgerRegressionTest, EvidenceThatNoEntryHoldsIsLeftOutOfACallThatOnlyReads) {
  plan.tool("", "read_file", {Tier::Observe, "none"})
      .guard(guard(with_evidence(Verdict::allow(), json::value(std::string(200'000, 'x')))));
  open();
  ASSERT_TRUE(call(Governed::read_file()));
  EXPECT_EQ(outcomes(), Words{"completed"});
  ASSERT_TRUE(call(Governed::read_file()));
  EXPECT_EQ(outcomes(), (Words{"completed", "cached"}));
}

// EV-110 AU-32
TEST_F(LedgerRegressionTest, ATextOfAGuardThatIsNoTextCostsNoRecord) {
  const Verdict verdicts[] = {Verdict::deny(std::string(kNoText)),
                              with_evidence(Verdict::allow(), json::value(kNoText))};
  for (const Verdict& verdict : verdicts) {
    test::GovernedLedger own;
    own.plan.tool("", "read_file", {Tier::Observe, "none"}).guard(guard(verdict));
    own.open();
    const Result<Answer> answer = own.call(Governed::read_file());
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(own.records().size(), 1u);
    EXPECT_EQ(own.terminal_records(answer->call_id), 1u);
  }
}

// EV-110 AU-32
TEST_F(LedgerRegressionTest, AnErrorOfAToolThatIsNoTextCostsNoRecord) {
  tool_answers([](Call, std::stop_token) -> Task<Envelope> {
    co_return fail(ErrorCode::Unavailable, std::string(kNoText));
  });
  open();
  const Result<Answer> answer = call(Governed::read_file());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(outcomes(), Words{"completed"});
  EXPECT_EQ(ledger->facts("open_call")->size(), 0u);
}

// EV-110 AU-32
TEST_F(LedgerRegressionTest, AReasonOfAPersonThatIsNoTextEndsTheCallInOneRecord) {
  plan.autonomy(Autonomy::ActWithApproval);
  approver = std::make_shared<FunctionApprover>(
      [](const Question&) { return Reply::deny("user:ada", std::string(kNoText)); });
  open();
  Call asked = Governed::read_file();
  asked.time_limit = std::chrono::milliseconds(300);
  const Result<Answer> answer = call(asked);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(outcomes(), (Words{"requires_confirmation, open", "blocked"}));
}

// EV-110 AU-32 AU-64 (partly)
TEST_F(LedgerRegressionTest, ASnapshotThatIsNoJsonIsInvalidated) {
  prepares()->prepared.snapshot = json::value(kNoText);
  open();
  const Result<Answer> answer = call(Governed::read_file());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(outcomes(), Words{"invalidated"});
}

// AU-51
TEST_F(LedgerRegressionTest, TheRecordOfACachedAnswerListsWhatRedactionTookFromIt) {
  tool_answers([](Call, std::stop_token) -> Task<Envelope> {
    co_return Envelope::of(json::value("key " + std::string(kSecret)));
  });
  open();
  ASSERT_TRUE(call(Governed::read_file()));
  const Result<Answer> again = call(Governed::read_file());
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->outcome.kind, Outcome::Kind::Cached);
  Words paths;
  for (const Redaction& redaction : record_of(*again).redactions) {
    paths.push_back(redaction.path);
    EXPECT_EQ(redaction.digest, ledger->digest()(kSecret));
  }
  EXPECT_NE(std::ranges::find(paths, "/outcome/result/output"), paths.end());
}

// AU-81 AU-82 AU-84
TEST_F(LedgerRegressionTest, APasswordKnownByItsNameIsFoundInNoTextMadeOfItsObject) {
  const json::value object{{"password", "hunter2hunter2"}};
  tool_answers(
      [object](Call, std::stop_token) -> Task<Envelope> { co_return Envelope::of(object); });
  open();
  Call asked = Governed::read_file();
  asked.input = object;
  const Result<Answer> answer = call(asked);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(upstream->calls.at(0).input, object);
  EXPECT_EQ(answer->result.data, object);
  EXPECT_EQ(files_with("hunter2hunter2"), Words{});
  close();
  EXPECT_EQ(files_with("hunter2hunter2"), Words{});
}

// AU-78 AU-86: a repeated execution uses the prepared input, not its redacted form.
TEST_F(LedgerRegressionTest, ASnapshotThatRedactionChangedIsNeverExecuted) {
  const auto preparer = prepares();
  preparer->outlives = true;
  preparer->prepared.snapshot = {{"to", kSecret}};
  preparer->execute = [](Call, std::stop_token) -> Task<Envelope> {
    throw std::runtime_error("lost");
  };
  open();
  ASSERT_TRUE(call(Governed::read_file()));
  ASSERT_EQ(preparer->calls.size(), 1u);
  EXPECT_EQ(preparer->calls[0].input.at("prepared_snapshot"), preparer->prepared.snapshot);
  preparer->execute = {};
  const Result<Answer> again = call(Governed::read_file());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->outcome.kind, Outcome::Kind::Completed) << again->outcome.text;
  ASSERT_EQ(preparer->calls.size(), 2u);
  EXPECT_EQ(preparer->calls[1].input, preparer->calls[0].input);
  EXPECT_EQ(preparer->preparations.size(), 1u);
  EXPECT_EQ(files_with(kSecret), Words{});
}

// A key that differs from every other in its last letters.
std::string numbered_secret(std::size_t number) {
  std::string secret(kSecret);
  for (std::size_t place = secret.size() - 1; number > 0; --place, number /= 26) {
    secret[place] = static_cast<char>('A' + number % 26);
  }
  return secret;
}

// AU-81 (partly) AU-83
TEST_F(LedgerRegressionTest, AResultWithThousandsOfSecretsHasARecordThatCountsThem) {
  json::array keys;
  for (std::size_t i = 0; i < 5000; ++i) keys.push_back(json::value(numbered_secret(i)));
  tool_answers([keys](Call, std::stop_token) -> Task<Envelope> {
    co_return Envelope::of({{"keys", keys}});
  });
  open();
  const Result<Answer> answer = call(Governed::read_file());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->result.data.at("keys").as_array().size(), 5000u);
  const AuditRecord record = record_of(*answer);
  EXPECT_EQ(record.outcome.kind, Outcome::Kind::Completed);
  ASSERT_GT(record.redactions.size(), 1u);
  const Redaction& last = record.redactions.back();
  EXPECT_EQ(last.path, "");
  ASSERT_TRUE(last.category.ends_with(" more")) << last.category;
  const std::size_t listed = record.redactions.size() - 1;
  EXPECT_GE(listed + std::stoul(last.category), 5000u);
  EXPECT_TRUE(last.digest.starts_with("hmac-sha256:"));
  for (std::size_t i = 0; i < listed; ++i) EXPECT_NE(record.redactions[i].path, "");
  for (const std::size_t number : {0u, 2500u, 4999u}) {
    EXPECT_EQ(files_with(numbered_secret(number)), Words{}) << number;
  }
  EXPECT_EQ(test::verdict(ledger.store()), "ok");
}

// AU-20 AU-81
TEST_F(LedgerRegressionTest, TheCutOfALongOutputLeavesNoHalfOfASecret) {
  const std::string output = std::string(50 * 1024 - 15, ' ') + std::string(kSecret);
  tool_answers([output](Call, std::stop_token) -> Task<Envelope> {
    co_return Envelope::of(json::value(output));
  });
  open();
  ASSERT_TRUE(call(Governed::read_file()));
  EXPECT_EQ(files_with(kSecret.substr(0, 15)), Words{});
}

// AU-32 AU-83
TEST_F(LedgerRegressionTest, PathsOfRemovalsThatNoEntryHoldsCostNoRecord) {
  json::array secrets;
  for (int i = 0; i < 200; ++i) secrets.push_back(json::value(kSecret));
  const json::value inputs[] = {json::object{{std::string(1000, 'k'), secrets}},
                                json::object{{std::string(70'000, 'k'), kSecret}}};
  for (const json::value& input : inputs) {
    test::GovernedLedger own;
    own.open();
    Call asked = Governed::read_file();
    asked.input = input;
    const Result<Answer> answer = own.call(asked);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(own.terminal_records(answer->call_id), 1u) << answer->outcome.text;
    EXPECT_TRUE(own.ledger->ready());
  }
}

// AU-73 EV-110
TEST_F(LedgerRegressionTest, ARefusalWhoseReasonIsNoTextIsNotWaitedOut) {
  plan.autonomy(Autonomy::ActWithApproval);
  approver = std::make_shared<FunctionApprover>(
      [](const Question&) { return Reply::deny("user:ada", std::string(kNoText)); });
  open();
  Call asked = Governed::read_file();
  asked.time_limit = std::chrono::milliseconds(300);
  const Result<Answer> answer = call(asked);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_NE(answer->outcome.text, "approval_expired");
}

// EV-42 EV-110 AU-34
TEST_F(LedgerRegressionTest, ADetailOfADeniedActionThatIsNoTextDoesNotCostTheAnswer) {
  upstream = std::make_shared<test::FakeUpstream>(
      [](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
        delivery->deny(event::DeniedAction::ReadFile, std::string(kNoText));
        co_return Envelope::error("outside");
      });
  tool = upstream;
  open();
  EXPECT_TRUE(call(Governed::read_file()));
  EXPECT_EQ(outcomes(), Words{"completed"});
}

// AU-23 AU-27 EV-110
TEST_F(LedgerRegressionTest, WhatAToolSaysInBadTextWhilePreparingKeepsItsOutcome) {
  using Kind = PrepareStep::Kind;
  const std::pair<Kind, std::string> cases[] = {{Kind::Refused, "blocked"},
                                                {Kind::Invalid, "invalidated"}};
  for (const auto& [kind, outcome] : cases) {
    test::GovernedLedger own;
    const auto preparer = std::make_shared<FakePreparer>();
    preparer->next = [kind](unsigned) -> Task<std::optional<PrepareStep>> {
      co_return PrepareStep{.kind = kind, .text = std::string(kNoText)};
    };
    own.tool = preparer;
    own.open();
    EXPECT_TRUE(own.call(Governed::read_file()));
    EXPECT_EQ(own.outcomes(), Words{outcome});
  }
}

}  // namespace
}  // namespace sallyport::core
