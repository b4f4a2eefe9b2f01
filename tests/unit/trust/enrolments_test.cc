#include "trust/enrolments.h"

#include <gtest/gtest.h>
#include <sodium.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "support/software_passkey.h"
#include "trust/approver_book.h"

namespace sallyport::trust {
namespace {

constexpr const char* kOrigin = "http://sallyport.localhost:8765";
constexpr const char* kStatement = R"({"approved":true})";

class EnrolmentsTest : public testing::Test {
 protected:
  EnrolmentsTest() { crypto_sign_ed25519_keypair(key.data(), secret.data()); }

  std::string sign(std::string_view text) const {
    std::array<std::uint8_t, 64> signature;
    crypto_sign_ed25519_detached(signature.data(), nullptr, as_bytes(text).data(), text.size(),
                                 secret.data());
    return "ed25519:" + base64(signature);
  }

  static Ceremony asked(std::string_view text) {
    return {std::string(text_of(sha256(text))), kOrigin, "sallyport.localhost"};
  }

  static Enrolment of(const SoftwarePasskey& passkey) {
    return {.reviewer = "user:ada",
            .credential_id = base64url(passkey.id()),
            .public_key = base64url(passkey.spki()),
            .alg = "ES256",
            .rp_id = "sallyport.localhost",
            .origin = kOrigin,
            .ledger = "sallyport.local/1",
            .at = "2026-11-17T05:00:00Z"};
  }

  // The registered key has signed it.
  Enrolment first() {
    Enrolment one = of(passkey);
    one.signature = sign(one.statement_text());
    return one;
  }

  Result<void> check(const std::vector<Enrolment>& all, const std::string& signature) {
    std::vector<std::string> texts;
    for (const Enrolment& one : all) texts.push_back(one.text());
    return ApproverBook({{person()}}).check_answer("user:ada", kStatement, signature, texts);
  }

  Reviewer person() const { return {.name = "user:ada", .roles = {"approver"}, .key = key}; }
  std::string answer() const { return passkey.signs(asked(kStatement)).text(); }

  PublicKey key{};
  std::array<std::uint8_t, 64> secret{};
  SoftwarePasskey passkey;
};

// CO-19 CO-21
TEST_F(EnrolmentsTest, AnAnswerCountsOnlyWithAPasskeyThatTheRegisteredKeySignedFor) {
  EXPECT_TRUE(check({first()}, answer()));
  EXPECT_EQ(check({}, answer()).error().cause, "passkey_unknown");
  Enrolment forged = first();
  forged.origin = "http://evil.example";
  EXPECT_FALSE(check({forged}, answer()));
  Enrolment unsigned_one = of(passkey);
  EXPECT_FALSE(check({unsigned_one}, answer()));
  Enrolment removed = first();
  removed.removed_at = "2026-11-17T06:00:00Z";
  EXPECT_EQ(check({removed}, answer()).error().cause, "passkey_removed");
  Enrolment another = first();
  another.reviewer = "user:bo";
  EXPECT_EQ(check({another}, answer()).error().cause, "passkey_unknown");
}

// CO-19
TEST_F(EnrolmentsTest, AnEnrolledPasskeySignsForAnotherAndABrowserKeyDoesNot) {
  const SoftwarePasskey second("ES256", "credential-2");
  Enrolment next = of(second);
  next.signature = passkey.signs(asked(next.statement_text())).text();
  const std::string signature = second.signs(asked(kStatement)).text();
  EXPECT_TRUE(check({first(), next}, signature));
  // It stays valid when its signer is removed.
  Enrolment removed = first();
  removed.removed_at = "2026-11-17T06:00:00Z";
  EXPECT_TRUE(check({removed, next}, signature));
  EXPECT_FALSE(check({next}, signature));
  // A key that signs for itself does not count.
  Enrolment own = of(second);
  own.signature = second.signs(asked(own.statement_text())).text();
  EXPECT_FALSE(check({own}, signature));
  Enrolment browser = first();
  browser.rp_id.clear();
  browser.signature = sign(browser.statement_text());
  EXPECT_FALSE(check({browser, next}, signature));
}

// CO-22
TEST_F(EnrolmentsTest, ABrowserKeySignsAsTheRegisteredKeyDoes) {
  const SoftwarePasskey browser("EdDSA");
  PublicKey own{};
  std::array<std::uint8_t, 64> own_secret{};
  crypto_sign_ed25519_keypair(own.data(), own_secret.data());
  Enrolment one = of(browser);
  one.rp_id.clear();
  one.alg = "EdDSA";
  const std::string prefix = browser.spki().substr(0, 12);
  one.public_key = base64url(prefix + std::string(as_text(own)));
  one.signature = sign(one.statement_text());
  std::array<std::uint8_t, 64> bytes;
  const std::string_view text = kStatement;
  crypto_sign_ed25519_detached(bytes.data(), nullptr, as_bytes(text).data(), text.size(),
                               own_secret.data());
  const std::string signature = "ed25519:" + base64(bytes);
  EXPECT_TRUE(check({one}, signature));
  EXPECT_FALSE(check({}, signature));
  Enrolment other = one;
  other.reviewer = "user:bo";
  other.signature = sign(other.statement_text());
  EXPECT_FALSE(check({other}, signature)) << "the key of another person";
  Enrolment short_key = one;
  short_key.public_key = base64url(prefix + std::string(as_text(own)).substr(1));
  short_key.signature = sign(short_key.statement_text());
  EXPECT_FALSE(check({short_key}, signature));
  EXPECT_TRUE(check({other, short_key, one}, signature));
  Enrolment unsigned_one = one;
  unsigned_one.signature = sign("something else");
  EXPECT_FALSE(check({unsigned_one}, signature)) << "the registered key did not sign for it";
  one.removed_at = "2026-11-17T06:00:00Z";
  EXPECT_FALSE(check({one}, signature));
  EXPECT_TRUE(check({one}, sign(kStatement)));
}

TEST_F(EnrolmentsTest, AFactReadsBackAsItWasWritten) {
  const Enrolment one = first();
  EXPECT_EQ(Enrolment::parse(one.text())->text(), one.text());
  EXPECT_FALSE(Enrolment::parse("{}"));
  json::object more = one.statement();
  more["x"] = 1;
  EXPECT_FALSE(Enrolment::from_statement(more));
}

}  // namespace
}  // namespace sallyport::trust
