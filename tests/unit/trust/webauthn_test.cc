#include "trust/webauthn.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/software_passkey.h"

namespace sallyport::trust {
namespace {

const Ceremony kAsked{.challenge = "the digest of an answer",
                      .origin = "http://sallyport.localhost:8765",
                      .rp_id = "sallyport.localhost"};

CredentialKey key_of(const SoftwarePasskey& passkey, const std::string& alg) {
  return {alg, passkey.spki()};
}

// CO-20 CO-21
TEST(WebauthnTest, BothAlgorithmsMakeCredentialsAndSign) {
  for (const std::string alg : {"ES256", "EdDSA"}) {
    const SoftwarePasskey passkey(alg);
    const Result<NewCredential> made =
        new_credential(SoftwarePasskey::client_data(kAsked, "webauthn.create", {}),
                       passkey.created(kAsked), kAsked);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->id, passkey.id());
    EXPECT_EQ(made->key.spki, passkey.spki());
    EXPECT_EQ(made->key.alg, alg);
    const Result<Assertion> read = Assertion::parse(passkey.signs(kAsked).text());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(check_assertion(*read, made->key, kAsked));
  }
}

// CO-21: each wrong item is refused with its own cause.
TEST(WebauthnTest, EveryWrongItemIsRefusedWithItsCause) {
  const SoftwarePasskey passkey;
  const struct {
    SoftwarePasskey::Lies lies;
    const char* cause;
  } cases[] = {
      {{.type = "webauthn.create"}, "webauthn_type"},
      {{.challenge = "another"}, "webauthn_challenge"},
      {{.origin = "http://sallyport.localhost:9999"}, "webauthn_origin"},
      {{.origin = "https://sallyport.localhost:8765"}, "webauthn_origin"},
      {{.more = R"(,"topOrigin":"https://evil.example")"}, "webauthn_origin"},
      {{.rp_id = "localhost"}, "webauthn_rp_id"},
      {{.absent = true}, "user_not_present"},
      {{.unverified = true}, "user_not_verified"},
      {{.broken = true}, "webauthn_signature"},
  };
  for (const auto& [lies, cause] : cases) {
    const Result<void> checked =
        check_assertion(passkey.signs(kAsked, lies), key_of(passkey, "ES256"), kAsked);
    ASSERT_FALSE(checked) << cause;
    EXPECT_EQ(checked.error().cause, cause);
  }
  const SoftwarePasskey other;
  EXPECT_FALSE(check_assertion(other.signs(kAsked), key_of(passkey, "ES256"), kAsked));
  EXPECT_FALSE(check_assertion(passkey.signs(kAsked), key_of(passkey, "EdDSA"), kAsked));
}

// CO-20: an assertion has one form as text.
TEST(WebauthnTest, AnAssertionHasOneForm) {
  const std::string text = SoftwarePasskey().signs(kAsked).text();
  ASSERT_TRUE(Assertion::parse(text));
  EXPECT_EQ(Assertion::parse(text)->text(), text);
  const std::string inner = *from_base64url(text.substr(9));
  const auto written = [](const std::string& form) { return "webauthn:" + base64url(form); };
  EXPECT_FALSE(Assertion::parse(text + "="));
  EXPECT_FALSE(Assertion::parse("ed25519:" + text.substr(9)));
  EXPECT_FALSE(Assertion::parse(written(inner + " ")));
  EXPECT_FALSE(Assertion::parse(written("{\"a\":1," + inner.substr(1))));
  EXPECT_FALSE(Assertion::parse(written("{}")));
  EXPECT_FALSE(Assertion::parse("webauthn:" + std::string(30'000, 'A')));
}

// CO-20 (partly): each member at its limit and beyond it.
TEST(WebauthnTest, TheMembersOfAnAssertionHaveTheirLimits) {
  const struct {
    std::string Assertion::* member;
    std::size_t most;
  } kLimits[] = {{&Assertion::credential_id, 1023},
                 {&Assertion::authenticator_data, 4096},
                 {&Assertion::client_data, 4096},
                 {&Assertion::signature, 1024}};
  const Assertion small{
      .credential_id = "a", .authenticator_data = "b", .client_data = "c", .signature = "d"};
  ASSERT_TRUE(Assertion::parse(small.text()));
  for (const auto& [member, most] : kLimits) {
    Assertion one = small;
    one.*member = std::string(most, 'x');
    EXPECT_TRUE(Assertion::parse(one.text())) << most;
    one.*member += 'x';
    EXPECT_FALSE(Assertion::parse(one.text())) << most;
    one.*member = "";
    EXPECT_FALSE(Assertion::parse(one.text()));
  }
}

TEST(WebauthnTest, AKeyInAnotherFormIsNone) {
  const SoftwarePasskey passkey;
  const std::string client = SoftwarePasskey::client_data(kAsked, "webauthn.create", {});
  const std::string good = passkey.created(kAsked);
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(new_credential(client, good.substr(0, size), kAsked)) << size;
  }
  EXPECT_FALSE(new_credential(client, good + "x", kAsked));
  // No point of the curve.
  std::string off = good;
  off.replace(off.size() - 32, 32, std::string(32, '\7'));
  EXPECT_FALSE(new_credential(client, off, kAsked));
}

}  // namespace
}  // namespace sallyport::trust
