#include "oauth/challenge.h"

#include <gtest/gtest.h>

namespace sallyport::oauth {
namespace {

std::optional<Challenge> read(std::string header) {
  return bearer_challenge({{"Content-Type", "text/html"}, {"WWW-Authenticate", std::move(header)}});
}

TEST(ChallengeTest, WhatAServerAsksForIsRead) {
  const auto found = read(
      R"(Bearer realm="a, b", error="insufficient_scope", scope="read write", resource_metadata="https://h/x?y=\"z\"")");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->resource_metadata, R"(https://h/x?y="z")");
  EXPECT_EQ(found->scope, "read write");
  EXPECT_TRUE(found->wants_more_scope());
}

TEST(ChallengeTest, ItIsFoundAmongOthers) {
  for (const char* const header :
       {R"(Basic realm="x", Bearer scope="s")", R"(Negotiate YWJj==, bearer scope=s)",
        R"(Digest qop="auth", nonce=1, , BEARER  scope = "s" , Basic scope="other")",
        R"(Bearer scope="s", Basic realm="Bearer")"}) {
    const auto found = read(header);
    ASSERT_TRUE(found) << header;
    EXPECT_EQ(found->scope, "s") << header;
  }
  const auto second = bearer_challenge(
      {{"www-authenticate", "Basic realm=x"}, {"www-authenticate", "Bearer scope=s"}});
  EXPECT_TRUE(second && second->scope == "s");
}

TEST(ChallengeTest, OneWithoutWordsAsksForNothingInParticular) {
  for (const char* const header : {"Bearer", "Bearer ", "Bearer, Basic realm=x"}) {
    const auto found = read(header);
    ASSERT_TRUE(found) << header;
    EXPECT_EQ(found->scope + found->error + found->resource_metadata, "") << header;
  }
}

TEST(ChallengeTest, WhatCannotBeUnderstoodIsNone) {
  for (const std::string& header :
       {std::string("Basic realm=x"), std::string(), std::string(R"(Bearer scope="s)"),
        std::string(R"(Bearer scope="s\)"), std::string(R"(Bearer scope="a", scope="b")"),
        std::string("Bearer ;"), std::string("Bearers scope=s"),
        "Bearer scope=\"" + std::string(20'000, 'a') + '"'}) {
    EXPECT_FALSE(read(header)) << header.substr(0, 40);
  }
  std::string many = "Bearer a=b";
  for (int i = 0; i < 100; ++i) many += ", a" + std::to_string(i) + "=b";
  EXPECT_FALSE(read(many));
}

}  // namespace
}  // namespace sallyport::oauth
