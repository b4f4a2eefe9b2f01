#include "grants/token.h"

#include <gtest/gtest.h>

#include "grant_samples.h"

namespace sallyport::grants {
namespace {

using namespace test;

std::string form_of(const json::object& token) {
  const Result<TokenChain> chain = read_token(text_of(token));
  return chain ? "good" : chain.error().message;
}
std::string with_member(std::string_view name, json::value value) {
  json::object token = root_token();
  token[name] = std::move(value);
  return form_of(token);
}
std::string with_grant(json::object one) {
  return form_of(token_with({std::move(one)}));
}

// CG-1 CG-2 CG-3 CG-7
TEST(TokenTest, EveryMemberOfTheRootVectorIsRead) {
  const Result<TokenChain> chain = read_token(text_of(root_token()));
  ASSERT_TRUE(chain) << chain.error().message;
  ASSERT_EQ(chain->links.size(), 1u);
  const Token& token = chain->leaf();
  EXPECT_EQ(token.id, kRootId);
  EXPECT_EQ(token.issuer, kKeyA);
  EXPECT_EQ(token.principal, "agent:deploy-bot");
  EXPECT_EQ(token.subject_key, kKeyB);
  EXPECT_EQ(token.issued_at, 1794700800u);
  EXPECT_EQ(token.expires_at, 1794704400u);
  EXPECT_FALSE(token.parent);
  ASSERT_EQ(token.grants.size(), 1u);
  const Terms& terms = token.grants.front();
  EXPECT_EQ(terms.server, "fs");
  EXPECT_EQ(terms.tool, "write_file");
  EXPECT_EQ(terms.operations, (Operations{true, true, true}));
  EXPECT_EQ(terms.max_invocations, 10u);
  EXPECT_FALSE(terms.rate);
  EXPECT_FALSE(terms.from);
  ASSERT_EQ(terms.constraints.size(), 1u);
  EXPECT_EQ(terms.constraints.front().type, "path_prefix");
}

// CG-4 CG-5 CG-6
TEST(TokenTest, SignedBytesAndDigestsAreThoseOfTheVectors) {
  const Result<TokenChain> chain = read_token(text_of(child_token()));
  ASSERT_TRUE(chain) << chain.error().message;
  ASSERT_EQ(chain->links.size(), 2u);
  EXPECT_EQ(chain->links[0].signed_bytes, kRootBytes);
  EXPECT_EQ(chain->links[0].digest, kRootDigest);
  EXPECT_EQ(chain->leaf().signed_bytes, kChildBytes);
  EXPECT_EQ(chain->leaf().digest, kChildDigest);
  EXPECT_EQ(chain->leaf().parent, kRootDigest);
}

// CG-2 CG-4
TEST(TokenTest, SigningTheVectorsGivesTheirSignatures) {
  EXPECT_EQ(key_a().key(), kKeyA);
  EXPECT_EQ(key_b().key(), kKeyB);
  EXPECT_EQ(base64(as_bytes(key_a().sign(kRootBytes))), kRootSignature);
  EXPECT_EQ(base64(as_bytes(key_b().sign(kChildBytes))), kChildSignature);
}

// CG-1 CG-66
TEST(TokenTest, UnknownMembersAnywhereAreMalformed) {
  EXPECT_EQ(form_of(root_token()), "good");
  EXPECT_EQ(with_member("note", "x"), "`note` is not a member of a grant token");
  EXPECT_EQ(with_member("subject", json::object{{"principal", "p"}, {"name", "n"}}),
            "`subject.name` is not a member of a grant token");
  EXPECT_EQ(with_member("scope", json::object{{"grants", json::array{grant()}}, {"x", 1}}),
            "`scope.x` is not a member of a grant token");
  EXPECT_NE(with_grant(with(grant(), "price", 1)), "good");
  EXPECT_NE(
      with_grant(with(grant(), "rate", json::object{{"max", 1}, {"per_seconds", 1}, {"burst", 1}})),
      "good");
  json::object constraint{{"type", "custom"}, {"value", 1}, {"note", 1}};
  EXPECT_NE(with_grant(with(grant(), "constraints", json::array{constraint})), "good");
}

// CG-1 CG-66
TEST(TokenTest, EveryMemberMustBeThere) {
  for (const std::string_view name :
       {"schema", "id", "issuer", "subject", "issued_at", "expires_at", "scope", "signature"}) {
    json::object token = root_token();
    token.erase(name);
    EXPECT_NE(form_of(token), "good") << name;
  }
  for (const std::string_view name : {"server", "tool", "operations"}) {
    json::object one = grant();
    one.erase(name);
    EXPECT_NE(with_grant(std::move(one)), "good") << name;
  }
  EXPECT_NE(with_member("schema", "sallyport.grant.v2"), "good");
  EXPECT_NE(with_member("id", "7"), "good");
}

// CG-66
TEST(TokenTest, DuplicateKeysAreMalformed) {
  std::string text = text_of(root_token());
  text.insert(1, R"("id":"01966f4c-4000-7000-8000-000000000001",)");
  EXPECT_FALSE(read_token(text));
}

// CG-66
TEST(TokenTest, TimesAreWholeSecondsInOrder) {
  EXPECT_NE(with_member("issued_at", -1), "good");
  EXPECT_NE(with_member("issued_at", 1794700800.5), "good");
  EXPECT_NE(with_member("issued_at", "1794700800"), "good");
  EXPECT_NE(with_member("expires_at", 1794700800), "good");
  EXPECT_NE(with_member("expires_at", 1794700799), "good");
  EXPECT_EQ(with_member("expires_at", 1794700801), "good");
  std::string text = text_of(root_token());
  text.replace(text.find("1794704400"), 10, "1794704400.0");
  EXPECT_FALSE(read_token(text));
}

// CG-9 CG-66
TEST(TokenTest, OperationsAreKnownAndNotEmpty) {
  EXPECT_NE(with_grant(with(grant(), "operations", json::array{})), "good");
  EXPECT_NE(with_grant(with(grant(), "operations", json::array{"invoke", "admin"})), "good");
  EXPECT_NE(with_grant(with(grant(), "operations", "invoke")), "good");
  EXPECT_EQ(with_grant(with(grant(), "operations", json::array{"invoke"})), "good");
  EXPECT_NE(form_of(token_with({})), "good");
}

// CG-2 CG-3 CG-67
TEST(TokenTest, KeysAreLowerCaseHexOfTheirLength) {
  std::string upper(kKeyA);
  upper[10] = 'A';
  for (const std::string& key : {std::string(kKeyA).substr(0, 71), std::string(kKeyA) + "0", upper,
                                 " " + std::string(kKeyA), std::string(kKeyA).substr(8)}) {
    EXPECT_NE(with_member("issuer", json::value(key)), "good") << key;
    EXPECT_NE(with_member("subject", json::object{{"principal", "p"}, {"key", key}}), "good");
  }
  EXPECT_NE(with_member("subject", json::object{{"principal", "p"}, {"key", nullptr}}), "good");
  EXPECT_EQ(with_member("subject", json::object{{"principal", "p"}}), "good");
}

// CG-2 CG-67
TEST(TokenTest, SignaturesAreCanonicalBase64) {
  const std::string good(kRootSignature);
  std::string url = good;
  url[url.find('+')] = '-';
  std::string loose_bits = good;
  loose_bits[85] = 'R';
  for (const std::string& signature :
       {good.substr(0, 86), good.substr(0, 87), good + "=", " " + good, good + "\n", url,
        loose_bits, good.substr(0, 84), std::string()}) {
    EXPECT_NE(with_member("signature", json::value(signature)), "good") << signature;
  }
}

// CG-6 CG-66
TEST(TokenTest, ParentAndChainComeTogetherAndChainsDoNotNest) {
  json::object token = child_token();
  token.erase("chain");
  EXPECT_EQ(form_of(token), "`chain` is missing: a delegated token has both");
  token = child_token();
  token.erase("parent");
  EXPECT_NE(form_of(token), "good");
  token = child_token();
  token["chain"].as_array()[0].as_object()["chain"] = json::array{};
  EXPECT_EQ(form_of(token), "`chain` is not a member of a grant token");
  for (const json::value& parent :
       {json::value(7), json::value("sha256:00"), json::value("sha257:" + std::string(64, '0')),
        json::value("sha256:" + std::string(63, '0')),
        json::value("sha256:" + std::string(65, '0')),
        json::value("sha256:" + std::string(64, 'A'))}) {
    token = child_token();
    token["parent"] = parent;
    EXPECT_EQ(form_of(token), "`parent` must be `sha256:` and 64 lower-case hex digits") << parent;
  }
}

// CG-31 CG-66
TEST(TokenTest, StepsGrantsAndBytesHaveTheirLimits) {
  json::object token = child_token();
  const json::value link = token["chain"].as_array()[0];
  while (token["chain"].as_array().size() < kMostSteps) token["chain"].as_array().push_back(link);
  EXPECT_EQ(form_of(token), "good");
  token["chain"].as_array().push_back(link);
  EXPECT_EQ(form_of(token), "`chain` has over 8 steps");

  json::array grants;
  for (std::size_t i = 0; i < kMostGrants; ++i) grants.push_back(grant());
  EXPECT_EQ(form_of(token_with(grants)), "good");
  grants.push_back(grant());
  EXPECT_EQ(form_of(token_with(grants)), "`scope.grants` has over 64 grants");

  std::string text = text_of(root_token());
  text.insert(1, std::string(kMostBytes - text.size(), ' '));
  EXPECT_TRUE(read_token(text));
  text.insert(1, " ");
  EXPECT_FALSE(read_token(text));
}

// CG-7 CG-66
TEST(TokenTest, LimitsAreWholeNumbers) {
  for (const json::value& bad : {json::value(-1), json::value(1.5), json::value("3")}) {
    EXPECT_NE(with_grant(with(grant(), "max_invocations", bad)), "good");
    EXPECT_NE(with_grant(with(grant(), "from", bad)), "good");
    EXPECT_NE(with_grant(with(grant(), "rate", json::object{{"max", bad}, {"per_seconds", 1}})),
              "good");
  }
  EXPECT_NE(with_grant(with(grant(), "rate", json::object{{"max", 1}, {"per_seconds", 0}})),
            "good");
  EXPECT_NE(with_grant(with(grant(), "rate", json::object{{"max", 1}})), "good");
}

// CG-69
TEST(TokenTest, LimitsOfZeroAreLegal) {
  EXPECT_EQ(with_grant(with(grant(), "max_invocations", 0)), "good");
  EXPECT_EQ(with_grant(with(grant(), "rate", json::object{{"max", 0}, {"per_seconds", 60}})),
            "good");
}

TEST(TokenTest, NothingThatIsNoTokenIsRead) {
  for (const std::string_view text : {"", "null", "[]", "{}", "\"x\"", "{", "\xff"}) {
    EXPECT_FALSE(read_token(text)) << text;
  }
}

// CG-7
TEST(TokenTest, AScopeIsAListOfGrants) {
  for (const json::value& grants :
       {json::value(7), json::value(nullptr), json::value(json::object{{"0", grant()}})}) {
    EXPECT_EQ(with_member("scope", json::object{{"grants", grants}}),
              "`scope.grants` must be a list");
  }
  EXPECT_EQ(with_member("scope", json::object()), "`scope.grants` must be a list");
}

}  // namespace
}  // namespace sallyport::grants
