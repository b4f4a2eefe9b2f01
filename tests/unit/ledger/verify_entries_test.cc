#include "ledger/proof/verify_entries.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "ledger/maintenance.h"
#include "support/test_ledger.h"

namespace sallyport::ledger {
namespace {

using test::TestLedger;

TEST(VerifyEntriesTest, ATrustRecordThatChangesATierIsAControl) {
  for (const json::object& record :
       std::initializer_list<json::object>{{{"action", "trust.promote"}},
                                           {{"action", "trust.demote"}},
                                           {{"action", "other"}, {"metadata", {{"control", 1}}}}}) {
    EXPECT_TRUE(is_trust_control(record)) << json::value(record);
  }
  for (const json::object& record : std::initializer_list<json::object>{
           {}, {{"action", "call"}}, {{"metadata", {{"other", 1}}}}, {{"metadata", "control"}}}) {
    EXPECT_FALSE(is_trust_control(record)) << json::value(record);
  }
}

TEST(VerifyEntriesTest, PasskeysComeGoAndSignApprovals) {
  const json::object added{{"control", "passkey_added"}};
  const json::object approved{{"record", "approval_response"}, {"signature", "webauthn:x"}};
  EXPECT_TRUE(is_of_passkey("control", added));
  EXPECT_TRUE(is_of_passkey("control", {{"control", "passkey_removed"}}));
  EXPECT_TRUE(is_of_passkey("approval", approved));
  EXPECT_FALSE(is_of_passkey("event", added));
  EXPECT_FALSE(is_of_passkey("control", {{"control", "gap"}}));
  EXPECT_FALSE(is_of_passkey("control", approved));
  EXPECT_FALSE(is_of_passkey("event", approved));
  EXPECT_FALSE(is_of_passkey("approval", {{"signature", "webauthn:x"}}));
  EXPECT_FALSE(is_of_passkey("approval", {{"record", "approval_response"}, {"signature", "ed:x"}}));
  EXPECT_FALSE(is_of_passkey("approval", {{"record", "approval_response"}}));
}

TEST(VerifyEntriesTest, APasskeyThatAPrunedEntryMayHaveNamedIsNoFault) {
  const Error unknown{ErrorCode::Corrupt, "who is that", {}, "passkey_unknown"};
  const Error forged{ErrorCode::Corrupt, "forged", {}, "passkey_forged"};
  EXPECT_FALSE(passkey_fault(7, unknown, true));
  EXPECT_TRUE(passkey_fault(7, unknown, false));
  ASSERT_TRUE(passkey_fault(7, forged, true));
  EXPECT_EQ(passkey_fault(7, forged, true)->sequence, 7u);
}

// The verifier's answer about a passkey decides.
TEST(VerifyEntriesTest, WhoKnowsThePeopleJudgesTheirPasskeys) {
  TestLedger ledger;
  ledger.open();
  const std::uint64_t at = ledger.append(control("passkey_added", {{"key", "k"}})).sequence;
  ledger.append(control("passkey_removed", {{"key", "k"}}));
  std::vector<std::string> asked;
  const auto verified = [&](std::string cause) {
    asked.clear();
    const CheckPasskeys passkeys = [&, cause](const json::object& body,
                                              const std::string&) -> Result<void> {
      asked.emplace_back(body.at("control").as_string());
      if (cause.empty()) return {};
      return fail(ErrorCode::Corrupt, "no", {}, cause);
    };
    return verify_ledger(ledger.store(), {}, {}, 1, nullptr, {}, passkeys);
  };
  EXPECT_TRUE(verified("").ok);
  EXPECT_EQ(asked, (std::vector<std::string>{"passkey_added", "passkey_removed"}));
  const LedgerReport report = verified("passkey_unknown");
  ASSERT_TRUE(report.first_bad);
  EXPECT_EQ(report.first_bad->check, "trust_chain");
  EXPECT_EQ(report.first_bad->sequence, at);
  EXPECT_TRUE(verify_ledger(ledger.store(), {}, {}, 1).ok) << "nobody is asked";

  ASSERT_TRUE(ledger->transact(prune(at + 1, "ops", "old")));
  EXPECT_TRUE(verified("passkey_unknown").ok) << "the entry that named it may be gone";
  EXPECT_EQ(asked, (std::vector<std::string>{"passkey_removed"}));
  EXPECT_FALSE(verified("passkey_forged").ok);
}

}  // namespace
}  // namespace sallyport::ledger
