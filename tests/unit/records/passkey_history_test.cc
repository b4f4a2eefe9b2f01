#include "records/passkey_history.h"

#include <gtest/gtest.h>
#include <sodium.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "core/approval/approval_request.h"
#include "support/software_passkey.h"
#include "trust/enrolments.h"

namespace sallyport::app {
namespace {

constexpr const char* kOrigin = "http://sallyport.localhost:8765";
constexpr const char* kLedger = "sallyport.local/1";

class PasskeyHistoryTest : public testing::Test {
 protected:
  PasskeyHistoryTest() {
    crypto_sign_ed25519_keypair(key.data(), secret.data());
    const trust::Reviewer ada{.name = "user:ada", .roles = {"approver"}, .key = key};
    judge = passkeys_of({{ada}});
  }

  trust::Ceremony asked(std::string_view text) const {
    return {std::string(text_of(sha256(text))), kOrigin, "sallyport.localhost"};
  }

  json::object added(const std::string& ledger = kLedger) const {
    const trust::Enrolment one{.reviewer = "user:ada",
                               .credential_id = base64url(passkey.id()),
                               .public_key = base64url(passkey.spki()),
                               .alg = "ES256",
                               .rp_id = "sallyport.localhost",
                               .origin = kOrigin,
                               .ledger = ledger,
                               .at = "2026-11-17T05:00:00Z"};
    const std::string text = one.statement_text();
    std::array<std::uint8_t, 64> signature;
    crypto_sign_ed25519_detached(signature.data(), nullptr, as_bytes(text).data(), text.size(),
                                 secret.data());
    return {{"control", "passkey_added"},
            {"statement", one.statement()},
            {"signature", "ed25519:" + base64(signature)}};
  }

  json::object answer(bool approved = true) const {
    const core::ResponseStatement said{"apr_1", "user:ada", "sha256:00", "2026-11-17T05:01:00Z",
                                       true};
    return {{"record", "approval_response"},
            {"request_id", said.request_id},
            {"reviewer", said.reviewer},
            {"binding", said.binding},
            {"responded_at", said.responded_at},
            {"approved", approved},
            {"signature", passkey.signs(asked(said.text())).text()}};
  }

  json::object removed() const {
    return {{"control", "passkey_removed"}, {"credential_id", base64url(passkey.id())}};
  }

  Result<void> look(const json::object& body) { return judge(body, kLedger); }

  trust::PublicKey key{};
  std::array<std::uint8_t, 64> secret{};
  trust::SoftwarePasskey passkey;
  ledger::CheckPasskeys judge;
};

// CO-21: `ledger verify` repeats the check, in the order of the log.
TEST_F(PasskeyHistoryTest, AnAnswerHoldsBetweenEnrolmentAndRemovalAndNowhereElse) {
  EXPECT_EQ(look(answer()).error().cause, "passkey_unknown");
  ASSERT_TRUE(look(added()));
  EXPECT_TRUE(look(answer()));
  EXPECT_EQ(look(answer(false)).error().cause, "webauthn_challenge");
  ASSERT_TRUE(look(removed()));
  EXPECT_EQ(look(answer()).error().cause, "passkey_removed");
}

// CO-19
TEST_F(PasskeyHistoryTest, AnEnrolmentThatTheKeyDidNotSignIsAFault) {
  json::object forged = added();
  forged["statement"].as_object()["reviewer"] = "user:bo";
  EXPECT_FALSE(look(forged));
  forged = added();
  forged["statement"].as_object()["origin"] = "http://evil.example";
  EXPECT_FALSE(look(forged));
  EXPECT_FALSE(look(added("sallyport.local/2")));
  ASSERT_TRUE(look(added()));
  EXPECT_FALSE(look(added()));
}

TEST_F(PasskeyHistoryTest, OnlyAPrunedLogMayLackAnEnrolment) {
  const Error unknown = look(answer()).error();
  EXPECT_FALSE(ledger::passkey_fault(7, unknown, true));
  EXPECT_EQ(ledger::passkey_fault(7, unknown, false)->check, "trust_chain");
  EXPECT_TRUE(ledger::is_of_passkey("approval", answer()));
  EXPECT_FALSE(ledger::is_of_passkey("topic", answer()));
}

}  // namespace
}  // namespace sallyport::app
