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
  EXPECT_FALSE(Assertion::parse("Webauthn:" + text.substr(9)));
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

// CO-20 (partly)
TEST(WebauthnTest, TheIdOfACredentialHasItsLimits) {
  for (const auto& [size, good] : {std::pair(0, false), {1, true}, {1023, true}, {1024, false}}) {
    const SoftwarePasskey passkey("ES256", std::string(static_cast<std::size_t>(size), 'i'));
    const std::string client = SoftwarePasskey::client_data(kAsked, "webauthn.create", {});
    EXPECT_EQ(new_credential(client, passkey.created(kAsked), kAsked).has_value(), good) << size;
  }
}

// CO-20 (partly): nothing depends on extensions, but data that declares them must have them.
TEST(WebauthnTest, ExtensionsStandBehindTheKeyWhereTheFlagSaysSo) {
  const std::string client = SoftwarePasskey::client_data(kAsked, "webauthn.create", {});
  for (const std::string alg : {"ES256", "EdDSA"}) {
    const std::string plain = SoftwarePasskey(alg).created(kAsked);
    std::string flagged = plain;
    flagged[32] = static_cast<char>(flagged[32] | 0x80);
    EXPECT_TRUE(new_credential(client, flagged + "\xa0", kAsked)) << alg;
    EXPECT_FALSE(new_credential(client, flagged, kAsked)) << alg;
    EXPECT_FALSE(new_credential(client, plain + "\xa0", kAsked)) << alg;
    const std::string longest = flagged + std::string(4096 - flagged.size(), 'x');
    EXPECT_TRUE(new_credential(client, longest, kAsked)) << alg;
    EXPECT_FALSE(new_credential(client, longest + 'x', kAsked)) << alg;
    std::string without = plain;
    without[32] = static_cast<char>(without[32] & ~0x40);
    EXPECT_FALSE(new_credential(client, without, kAsked)) << alg;
  }
}

// CO-21 (partly)
TEST(WebauthnTest, APageThatIsFramedByAnotherDoesNotSign) {
  const SoftwarePasskey passkey;
  const auto checked = [&](const std::string& client_data) {
    return new_credential(client_data, passkey.created(kAsked), kAsked).has_value();
  };
  const std::string text = SoftwarePasskey::client_data(kAsked, "webauthn.create", {});
  EXPECT_TRUE(checked(text));
  const std::string member = R"(,"crossOrigin":false)";
  const std::size_t at = text.find(member);
  EXPECT_TRUE(checked(std::string(text).erase(at, member.size())));
  for (const char* const other : {"true", "null", R"("false")"}) {
    EXPECT_FALSE(checked(
        std::string(text).replace(at, member.size(), R"(,"crossOrigin":)" + std::string(other))))
        << other;
  }
  EXPECT_FALSE(checked("[]"));
}

TEST(WebauthnTest, AKeyIsOneOfTwoFormsUnderItsOwnName) {
  for (const std::string alg : {"ES256", "EdDSA"}) {
    const SoftwarePasskey passkey(alg);
    const Assertion given = passkey.signs(kAsked);
    const auto verifies = [&](const std::string& name, const std::string& spki) {
      return check_assertion(given, {name, spki}, kAsked).has_value();
    };
    EXPECT_TRUE(verifies(alg, passkey.spki()));
    EXPECT_FALSE(verifies("RS256", passkey.spki()));
    EXPECT_FALSE(verifies(alg, passkey.spki() + "x"));
    EXPECT_FALSE(verifies(alg, "x" + passkey.spki()));
    EXPECT_EQ(ed25519_in(passkey.spki()).has_value(), alg == "EdDSA");
    EXPECT_FALSE(ed25519_in(passkey.spki() + "x"));
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
