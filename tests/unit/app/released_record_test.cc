// The record of a released, changed or withheld result, and what it proves afterwards.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "ledger/entry/opening.h"
#include "ledger/proof/key_history.h"
#include "ledger/proof/receipt.h"
#include "support/governed_ledger.h"

namespace sallyport::core {
namespace {

using test::FunctionResultGuard;
using test::Governed;

struct Case {
  const char* name;
  FunctionResultGuard::Judge judge;
};

class ReleasedRecordTest : public testing::Test, protected test::GovernedLedger {};

// PI-46 PI-38
TEST_F(ReleasedRecordTest, AReceiptVerifiesAfterEachVerdictAndEachClassOfFailure) {
  const Case cases[] = {
      {"allow", [](const Envelope&, const ResultContext&) { return Verdict::allow(); }},
      {"block", [](const Envelope&, const ResultContext&) { return Verdict::deny("no"); }},
      {"redact",
       [](const Envelope&, const ResultContext&) {
         return Verdict::rewrite(Envelope::of("***").to_json());
       }},
      {"escalate", [](const Envelope&, const ResultContext&) { return Verdict::escalate("see"); }},
      {"exception",
       [](const Envelope&, const ResultContext&) -> Result<Verdict> {
         throw std::runtime_error("inside");
       }},
      {"malformed",
       [](const Envelope&, const ResultContext&) { return Verdict::rewrite({{"kind", "none"}}); }}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    test::GovernedLedger own;
    own.plan.result_guard(std::make_shared<FunctionResultGuard>("judge", one.judge));
    own.open();
    const Result<Answer> answer = own.call(Governed::read_file());
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_TRUE(own.ledger.store().read([&](ledger::ReadView& view) -> Result<void> {
      const auto keys = ledger::key_history(view);
      const auto receipt = ledger::make_receipt(view, answer->sequence, true);
      EXPECT_TRUE(keys && receipt);
      const ledger::Verification checked =
          ledger::verify_receipt(receipt->json(), {.key = keys->back().key});
      EXPECT_TRUE(checked.ok) << checked.step << ": " << checked.detail;
      return {};
    }));
  }
}

// Returns the value at `path` of the entry, and the opening kept beside it.
struct Sealed {
  std::string commitment;
  ledger::Opening opening;
};
Sealed sealed_at(test::GovernedLedger& governed, std::uint64_t sequence, const std::string& path) {
  for (const test::Seen& seen : test::all_entries(governed.ledger.store())) {
    if (seen.stored.sequence != sequence) continue;
    for (const ledger::Opening& opening : *ledger::unpack_openings(seen.stored.openings)) {
      if (opening.path != path) continue;
      return {std::string(seen.entry.at_pointer(path).at("$sealed").as_string()), opening};
    }
  }
  ADD_FAILURE() << "nothing is sealed at " << path;
  return {};
}

// PI-44
TEST_F(ReleasedRecordTest, WhoeverHasTheOriginalCanProveThatItWasThisOne) {
  for (const bool block : {true, false}) {
    test::GovernedLedger own;
    own.plan.result_guard(std::make_shared<FunctionResultGuard>(
        "judge", [block](const Envelope&, const ResultContext&) {
          return block ? Verdict::deny("no") : Verdict::rewrite(Envelope::of("***").to_json());
        }));
    own.tool_answers([](Call, std::stop_token) -> Task<Envelope> {
      co_return Envelope::of("what the tool said");
    });
    own.open();
    const Result<Answer> answer = own.call(Governed::read_file());
    ASSERT_TRUE(answer) << answer.error().message;
    const Sealed sealed = sealed_at(own, answer->sequence, "/body/post_invocation/original");
    EXPECT_EQ(sealed.opening.state, ledger::OpeningState::Withheld);
    EXPECT_TRUE(sealed.opening.value.empty());
    EXPECT_TRUE(own.files_with("what the tool said").empty());
    const std::string original = canonical_json(Envelope::of("what the tool said").to_json());
    EXPECT_EQ(ledger::seal_digest(ledger::Form::Json, sealed.opening.salt, original),
              sealed.commitment);
    const std::string other = canonical_json(Envelope::of("what the tool did not say").to_json());
    EXPECT_NE(ledger::seal_digest(ledger::Form::Json, sealed.opening.salt, other),
              sealed.commitment);
  }
}

// PI-45
TEST_F(ReleasedRecordTest, TheCommitmentToWhatWasReleasedIsThatOfWhatTheAgentGot) {
  const std::string secret = "AKIAIOSFODNN7EXAMPLE";
  for (const std::string& said : {std::string("hello"), "key " + secret}) {
    test::GovernedLedger own;
    own.tool_answers([said](Call, std::stop_token) -> Task<Envelope> {
      co_return Envelope::of(json::value(said));
    });
    own.open();
    const Result<Answer> answer = own.call(Governed::read_file());
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->result.output, said);
    const Sealed sealed = sealed_at(own, answer->sequence, "/body/post_invocation/released");
    EXPECT_EQ(ledger::seal_digest(ledger::Form::Json, sealed.opening.salt,
                                  canonical_json(answer->released.to_json())),
              sealed.commitment);
    const bool kept = said == "hello";
    EXPECT_EQ(sealed.opening.state,
              kept ? ledger::OpeningState::Open : ledger::OpeningState::Withheld);
    EXPECT_EQ(sealed.opening.value.empty(), !kept);
    EXPECT_TRUE(own.files_with(secret).empty());
  }
}

// PI-40
TEST_F(ReleasedRecordTest, AProcessThatDiesBetweenEffectAndOutcomeReleasesNothing) {
  open();
  die_while_running(Governed::read_file());
  open();
  const std::vector<AuditRecord> found = records();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].outcome.kind, Outcome::Kind::PersistenceFailed);
  EXPECT_FALSE(found[0].outcome.result);
  EXPECT_EQ(found[0].effect_state, EffectState::Unknown);
  EXPECT_TRUE(found[0].post_invocation.is_null());
}

// AU-37
TEST_F(ReleasedRecordTest, NothingThatHappensLaterChangesAnEntry) {
  open();
  ASSERT_TRUE(call(Governed::read_file()));
  std::vector<std::string> before;
  for (const test::Seen& seen : test::all_entries(ledger.store())) {
    before.push_back(*seen.stored.bytes);
  }
  ASSERT_TRUE(call(Governed::read_file()));  // cached
  Call other = Governed::read_file();
  other.input = {{"path", "/else"}};
  ASSERT_TRUE(call(other));  // a conflict
  die_while_running([] {
    Call running = Governed::read_file();
    running.tool_call_id = "toolu_9";
    return running;
  }());
  open();
  const auto after = test::all_entries(ledger.store());
  ASSERT_GT(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(*after[i].stored.bytes, before[i]);
}

}  // namespace
}  // namespace sallyport::core
