#include "grants/issuing.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "grant_samples.h"

namespace sallyport::grants {
namespace {

using namespace test;

NewToken wanted(json::array grants) {
  return {.id = std::string(kRootId),
          .principal = "agent:deploy-bot",
          .subject_key = key_b().key(),
          .issued_at = 1794700800,
          .expires_at = 1794704400,
          .grants = std::move(grants)};
}

// CG-57
TEST(IssuingTest, AnIssuedTokenIsReadBackAndGenuine) {
  const Result<IssuedToken> issued = issue(wanted({grant("fs", "write_file")}), key_a());
  ASSERT_TRUE(issued) << issued.error().message;
  const Result<TokenChain> chain = read_token(issued->text);
  ASSERT_TRUE(chain) << chain.error().message;
  EXPECT_TRUE(signed_by_issuer(chain->leaf()));
  EXPECT_EQ(chain->leaf().issuer, kKeyA);
  EXPECT_EQ(chain->leaf().digest, issued->token.digest);
}

// CG-46
TEST(IssuingTest, AConstraintThatMatchesNothingIsRefusedWithItsGrant) {
  const auto why = [](json::array grants) {
    const Result<IssuedToken> issued = issue(wanted(std::move(grants)), key_a());
    return issued ? "" : issued.error().message;
  };
  EXPECT_EQ(why({grant(), limited_to("max_length", 9)}), "");
  for (const auto& [type, value] : {std::pair("moon_phase", json::value(1)),
                                    {"max_length", json::value("9")},
                                    {"path_prefix", json::value("srv")}}) {
    const std::string refused = why({grant(), limited_to(type, value)});
    EXPECT_TRUE(refused.starts_with(std::string("grant 1: constraint `") + type + "`")) << refused;
  }
}

}  // namespace
}  // namespace sallyport::grants
