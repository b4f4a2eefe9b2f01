// What the record of a released, changed or withheld result proves afterwards.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "ledger/receipt.h"
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
