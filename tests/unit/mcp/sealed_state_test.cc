#include "mcp/message/sealed_state.h"

#include <gtest/gtest.h>

#include "support/governed.h"
#include "support/test_ledger.h"

namespace sallyport::mcp {
namespace {

constexpr auto kLater = std::chrono::seconds(60);

class SealedStateTest : public testing::Test {
 protected:
  void SetUp() override {
    ledger.open();
    state.expires = rfc3339(now + kLater);
  }

  test::TestLedger ledger;
  WallTime now{std::chrono::seconds(1'800'000'000)};
  SealedState state{.id = "one",
                    .principal = "uid:dana",
                    .session = "mcp-1",
                    .approval_id = "apr_1",
                    .binding = "sha256:aa",
                    .request = "bb"};
};

// AP-32 (partly)
TEST_F(SealedStateTest, WhatWasSealedIsReadAgainUntilItIsOver) {
  const std::string sealed = seal(*ledger, state);
  EXPECT_TRUE(is_sealed(sealed));
  EXPECT_EQ(sealed.find("uid:dana"), std::string::npos);
  const Result<SealedState> read = unseal(*ledger, sealed, now);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, state);
  EXPECT_TRUE(unseal(*ledger, sealed, now + kLater - std::chrono::milliseconds(1)));
  EXPECT_FALSE(unseal(*ledger, sealed, now + kLater));
}

// AP-32 (partly)
TEST_F(SealedStateTest, EveryChangedCharacterIsRefused) {
  const std::string sealed = seal(*ledger, state);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    for (const char other : {'A', 'z', '0', '=', '\0'}) {
      if (sealed[i] == other) continue;
      std::string changed = sealed;
      changed[i] = other;
      EXPECT_FALSE(unseal(*ledger, changed, now)) << i;
    }
    EXPECT_FALSE(unseal(*ledger, sealed.substr(0, i), now)) << i;
  }
  EXPECT_FALSE(unseal(*ledger, sealed + "A", now));
  EXPECT_FALSE(unseal(*ledger, "", now));
}

// AP-32 (partly)
TEST_F(SealedStateTest, WhatAnotherLedgerSealedOrWasSealedForAnotherUseIsRefused) {
  test::TestLedger other;
  other.open();
  EXPECT_FALSE(unseal(*ledger, seal(*other, state), now));
  EXPECT_FALSE(unseal(*ledger, "sallyport." + ledger->encrypt("{}"), now));
  EXPECT_FALSE(unseal(*ledger, "sallyport." + ledger->encrypt("no JSON"), now));
}

// AP-32 (partly)
TEST_F(SealedStateTest, ItIsUsedOnceAlsoAfterARestart) {
  EXPECT_TRUE(test::run_now(use_once(*ledger, state)));
  const Result<void> again = test::run_now(use_once(*ledger, state));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::Conflict);
  ledger.close();
  ledger.open();
  EXPECT_FALSE(test::run_now(use_once(*ledger, state)));
  state.id = "two";
  EXPECT_TRUE(test::run_now(use_once(*ledger, state)));
}

// Such a state was not used, and the client is not told that it was.
TEST_F(SealedStateTest, AUseThatCannotBeRecordedIsNoUse) {
  test::FakeRecorder recorder;
  recorder.refuse_announcements = Error{ErrorCode::Unavailable, "the disk is gone"};
  EXPECT_EQ(test::run_now(use_once(recorder, state)).error().code, ErrorCode::Unavailable);
  recorder.refuse_announcements.reset();
  EXPECT_TRUE(test::run_now(use_once(recorder, state)));
}

}  // namespace
}  // namespace sallyport::mcp
