#include "grants/checks.h"

#include <gtest/gtest.h>

#include "grant_samples.h"

namespace sallyport::grants {
namespace {

using namespace test;

std::string examined(const json::object& token) {
  const Examination examination = examine(text_of(token), trusting_a());
  if (!examination.token) return code_of(examination);
  const auto failure = check_delegation(*examination.token);
  return failure ? std::string(failure->code) : "good";
}

// CG-16
TEST(ChecksTest, OnlyRootsOfTrustedIssuersCount) {
  EXPECT_EQ(examined(root_token()), "good");
  EXPECT_EQ(examined(child_token()), "good");
  json::object token = root_token();
  sign(token, key_b());
  EXPECT_EQ(examined(token), "grant_untrusted_issuer");
  EXPECT_EQ(code_of(examine(text_of(child_token()), {std::string(kKeyB)})),
            "grant_untrusted_issuer");
}

// CG-16
TEST(ChecksTest, EverySignatureOfTheChainMustVerify) {
  json::object token = root_token();
  token["subject"].as_object()["principal"] = "agent:other";
  EXPECT_EQ(examined(token), "grant_signature");
  token = child_token();
  token["chain"].as_array()[0].as_object()["expires_at"] = 1794704401;
  EXPECT_EQ(examined(token), "grant_signature");
  token = child_token();
  token["expires_at"] = 1794702601;
  EXPECT_EQ(examined(token), "grant_signature");
}

// CG-16
TEST(ChecksTest, KeysOfSmallOrderAndHighSAreRefused) {
  // The identity as key and R, zero as S: the equation holds, and the strict rules refuse it.
  json::object token = root_token();
  const std::string identity = "01" + std::string(62, '0');
  token["issuer"] = "ed25519:" + identity;
  token["signature"] = base64(as_bytes(*from_hex(identity) + std::string(32, '\0')));
  EXPECT_EQ(code_of(examine(text_of(token), {"ed25519:" + identity})), "grant_signature");

  // S and S + L both satisfy the equation; only the first is canonical.
  token = root_token();
  std::string bytes = *from_base64(kRootSignature);
  const std::string order =
      *from_hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
  unsigned carry = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    carry += static_cast<unsigned char>(bytes[32 + i]) + static_cast<unsigned char>(order[i]);
    bytes[32 + i] = static_cast<char>(carry);
    carry >>= 8;
  }
  token["signature"] = base64(as_bytes(bytes));
  EXPECT_EQ(examined(token), "grant_signature");
}

// CG-68
TEST(ChecksTest, NoSignatureIsComputedBehindTheFirstThatFails) {
  // Signatures of steps 1 and 2 are broken in different ways: only the first is reported.
  const json::object root = token_with({grant()}, 1);
  json::object leaf =
      child_of(child_of(root, {with(grant(), "from", 0)}, 2), {with(grant(), "from", 0)}, 3);
  leaf["chain"].as_array()[1].as_object()["expires_at"] = 1794704399;
  leaf["expires_at"] = 1794704398;
  const Examination examination = examine(text_of(leaf), trusting_a());
  ASSERT_TRUE(examination.failure);
  EXPECT_EQ(examination.failure->detail, "the signature of step 1 is not that of its issuer");
}

// CG-13 CG-66
TEST(ChecksTest, FormIsCheckedBeforeIssuersAndThoseBeforeSignatures) {
  json::object token = root_token();
  sign(token, key_b());
  token["signature"] = kRootSignature;  // of an issuer that does not count, and wrong
  EXPECT_EQ(examined(token), "grant_untrusted_issuer");
  token["note"] = 1;
  EXPECT_EQ(examined(token), "grant_malformed");
}

// CG-17
TEST(ChecksTest, ATokenIsValidFromItsFirstSecondToTheOneBeforeItsLast) {
  const TokenChain chain = *read_token(text_of(root_token()));
  const auto code = [&](WallTime now) {
    const auto failure = check_time(chain, now);
    return failure ? std::string(failure->code) : "good";
  };
  EXPECT_EQ(code(at(1794700799)), "grant_not_yet_valid");
  EXPECT_EQ(code(at(1794700800)), "good");
  EXPECT_EQ(code(at(1794704400) - std::chrono::microseconds(1)), "good");
  EXPECT_EQ(code(at(1794704400)), "grant_expired");
  EXPECT_EQ(code(WallTime(std::chrono::seconds(-5))), "grant_not_yet_valid");
}

// CG-18
TEST(ChecksTest, TheIdOfTheTokenIsAskedForFirstAndThenThoseOfItsAncestors) {
  const TokenChain chain = *read_token(text_of(child_token()));
  std::vector<std::string> asked;
  std::string revoked_id;
  const IsRevoked revoked = [&](const std::string& id) -> Result<bool> {
    asked.push_back(id);
    return id == revoked_id;
  };
  EXPECT_FALSE(*check_revocation(chain, revoked));
  EXPECT_EQ(asked, (std::vector<std::string>{std::string(kChildId), std::string(kRootId)}));
  revoked_id = kRootId;
  EXPECT_EQ((*check_revocation(chain, revoked))->code, "grant_revoked");
  asked.clear();
  revoked_id = kChildId;
  EXPECT_EQ((*check_revocation(chain, revoked))->code, "grant_revoked");
  EXPECT_EQ(asked.size(), 1u);
}

// CG-20
TEST(ChecksTest, ThePrincipalIsComparedByteForByte) {
  const TokenChain chain = *read_token(text_of(child_token()));
  EXPECT_FALSE(check_subject(chain, "agent:deploy-bot/tester"));
  for (const std::string_view other :
       {"agent:deploy-bot", "agent:deploy-bot/Tester", "agent:deploy-bot/tester ", ""}) {
    EXPECT_EQ(check_subject(chain, other)->code, "grant_subject") << other;
  }
}

// CG-33
TEST(ChecksTest, ChainsInAnotherOrderRepeatedMissingOrUnrelatedAreNoDelegation) {
  const json::object root = token_with({grant()}, 1);
  json::object middle = child_of(root, {with(grant(), "from", 0)}, 2);
  const json::object leaf = child_of(middle, {with(grant(), "from", 0)}, 3);
  ASSERT_EQ(examined(leaf), "good");
  const auto with_chain = [&](const std::vector<json::value>& links) {
    json::object token = leaf;
    token["chain"] = json::array(links.begin(), links.end());
    return examined(token);
  };
  const json::value first = leaf.at("chain").as_array()[0];
  const json::value second = leaf.at("chain").as_array()[1];
  EXPECT_EQ(with_chain({first, second}), "good");
  EXPECT_EQ(with_chain({second, first}), "grant_delegation");
  EXPECT_EQ(with_chain({first, first, second}), "grant_delegation");
  EXPECT_EQ(with_chain({first, second, second}), "grant_delegation");
  EXPECT_EQ(with_chain({first}), "grant_delegation");
  EXPECT_EQ(with_chain({second}), "grant_delegation");
  EXPECT_EQ(with_chain({}), "grant_delegation");
  EXPECT_EQ(with_chain({token_with({grant()}, 9), second}), "grant_delegation");
}

// CG-19 CG-21
TEST(ChecksTest, TheVectorsOfThePageGiveTheirAnswers) {
  const Examination examination = examine(text_of(child_token()), trusting_a());
  ASSERT_TRUE(examination.token);
  const auto fits = [&](json::value input) {
    const Call call{.server = "fs", .tool = "write_file", .input = std::move(input)};
    return fitting(*examination.token, {call, "fs.write"}).order == std::vector<std::size_t>{0};
  };
  EXPECT_TRUE(fits({{"path", "/srv/app/tmp/../tmp/a"}}));
  EXPECT_FALSE(fits({{"path", "/srv/app/a"}}));
  EXPECT_FALSE(fits({{"text", "x"}}));

  json::object widened = child_token();
  widened["scope"].at("grants").at(0).at("constraints").at(0).as_object()["value"] =
      "/srv/application";
  sign(widened, key_b());
  EXPECT_EQ(examined(widened), "grant_delegation");
}

}  // namespace
}  // namespace sallyport::grants
