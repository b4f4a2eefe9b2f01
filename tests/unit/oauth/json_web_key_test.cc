#include "oauth/json_web_key.h"

#include <gtest/gtest.h>

#include "token_maker.h"

namespace sallyport::oauth {
namespace {

json::object with(json::object jwk, std::string_view name, json::value value) {
  jwk[name] = std::move(value);
  return jwk;
}

TEST(JsonWebKeyTest, KeysOfThreeKindsAreRead) {
  const TokenMaker rsa("RSA", "r");
  const TokenMaker ec("P-256", "e");
  const TokenMaker edwards("ED25519", "o");
  const Result<KeySet> keys = KeySet::read(key_set({rsa.jwk(), ec.jwk(), edwards.jwk()}));
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->size(), 3u);
  EXPECT_TRUE(keys->find(Algorithm::RS256, "r") && keys->find(Algorithm::PS256, "r"));
  EXPECT_TRUE(keys->find(Algorithm::ES256, "e") && keys->find(Algorithm::EdDSA, "o"));
  // The id alone does not select a key.
  EXPECT_FALSE(keys->find(Algorithm::RS256, "e") || keys->find(Algorithm::ES256, "o"));
  EXPECT_FALSE(keys->find(Algorithm::EdDSA, "r") || keys->find(Algorithm::ES256, "none"));
}

TEST(JsonWebKeyTest, ATokenWithoutAnIdMeansTheOnlyKeyThatFits) {
  const TokenMaker one("ED25519", "1");
  const TokenMaker two("ED25519", "2");
  const TokenMaker other("RSA", "3");
  const KeySet alone = *KeySet::read(key_set({one.jwk(), other.jwk()}));
  EXPECT_NE(alone.find(Algorithm::EdDSA, std::nullopt), nullptr);
  const KeySet both = *KeySet::read(key_set({one.jwk(), two.jwk()}));
  EXPECT_EQ(both.find(Algorithm::EdDSA, std::nullopt), nullptr);
}

TEST(JsonWebKeyTest, KeysForAnotherUseArePassedOver) {
  const json::object jwk = TokenMaker("RSA").jwk();
  EXPECT_TRUE(VerifyKey::read(with(jwk, "use", "sig")));
  EXPECT_TRUE(VerifyKey::read(with(jwk, "key_ops", json::array{"verify"})));
  EXPECT_FALSE(VerifyKey::read(with(jwk, "use", "enc")));
  EXPECT_FALSE(VerifyKey::read(with(jwk, "use", 1)));
  EXPECT_FALSE(VerifyKey::read(with(jwk, "key_ops", json::array{"encrypt"})));
  EXPECT_FALSE(VerifyKey::read(with(jwk, "key_ops", "verify")));
  // A key with a declared use is for nothing else.
  const auto only = VerifyKey::read(with(jwk, "alg", "PS256"));
  ASSERT_TRUE(only);
  EXPECT_TRUE(only->fits(Algorithm::PS256) && !only->fits(Algorithm::RS256));
  for (const char* const other : {"ES256", "HS256", "RSA-OAEP", ""}) {
    EXPECT_FALSE(VerifyKey::read(with(jwk, "alg", other))) << other;
  }
}

TEST(JsonWebKeyTest, WeakAndMalformedKeysArePassedOver) {
  const json::object ec = TokenMaker("P-256").jwk();
  const json::object rsa = TokenMaker("RSA").jwk();
  for (const json::object& bad :
       {TokenMaker("RSA", "k", 1024).jwk(), TokenMaker("P-384").jwk(), TokenMaker("ED448").jwk(),
        with(ec, "x", ec.at("y")),  // not a point of the curve
        with(ec, "x", "AAAA"), with(ec, "x", 1), with(ec, "crv", "P-384"), with(ec, "kid", 1),
        with(rsa, "e", "AQ"), with(rsa, "e", "Ag"), with(rsa, "e", ""), with(rsa, "n", "!"),
        json::object{{"kty", "oct"}, {"k", "c2VjcmV0"}, {"kid", "k1"}}, json::object{}}) {
    EXPECT_FALSE(VerifyKey::read(bad)) << json::serialize(bad).substr(0, 100);
  }
  // Beside good keys they do no harm.
  const Result<KeySet> keys = KeySet::read(
      key_set({TokenMaker("P-384").jwk(), json::object{{"kty", "oct"}, {"k", "eA"}}, ec}));
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->size(), 1u);
}

TEST(JsonWebKeyTest, WhatIsNoKeySetIsRefused) {
  std::string many = R"({"keys":[1)";
  for (int i = 0; i < 100; ++i) many += ",1";
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), std::string(R"({"keys":{}})"),
        std::string(R"({"keys":[],"keys":[]})"), many + "]}", std::string(300'000, ' ') + "{}"}) {
    EXPECT_FALSE(KeySet::read(text));
  }
  EXPECT_EQ(KeySet::read(R"({"keys":[]})")->size(), 0u);
}

}  // namespace
}  // namespace sallyport::oauth
