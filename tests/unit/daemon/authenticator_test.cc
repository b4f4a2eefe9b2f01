#include "daemon/login/authenticator.h"

#include <gtest/gtest.h>

#include "base/encoding.h"
#include "support/governed.h"
#include "support/temp_folder.h"

namespace sallyport::app {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

AgentTokens tokens() {
  return AgentTokens::of({{.name = "ann", .token_sha256 = hex(sha256("token-of-ann"))},
                          {.name = "ben", .token_sha256 = hex(sha256("token-of-ben"))}});
}

// The principal, or the error in words.
std::string who(Authenticator& authenticator, Headers headers) {
  net::ServerRequest request;
  request.headers = std::move(headers);
  const Result<std::string> found = test::run_now(authenticator.model_principal_of(request));
  if (!found) EXPECT_EQ(found.error().code, ErrorCode::Unauthenticated);
  return found ? *found : "error: " + found.error().message;
}

// MP-17 (partly)
TEST(AuthenticatorTest, TheTokenOfAModelRequestIsTakenFromTheFirstOfThreeHeaders) {
  Authenticator authenticator(tokens());
  const std::pair<std::string, std::string> own{"x-sallyport-token", "token-of-ann"};
  const std::pair<std::string, std::string> bearer{"authorization", "Bearer token-of-ben"};
  const std::pair<std::string, std::string> key{"x-api-key", "token-of-ben"};
  EXPECT_EQ(who(authenticator, {own}), "ann");
  EXPECT_EQ(who(authenticator, {bearer}), "ben");
  EXPECT_EQ(who(authenticator, {key}), "ben");
  EXPECT_EQ(who(authenticator, {bearer, key, own}), "ann");
  EXPECT_EQ(who(authenticator, {{"x-api-key", "token-of-ann"}, bearer}), "ben");
  // Another scheme is no bearer token.
  EXPECT_EQ(who(authenticator, {{"authorization", "Basic YTpi"}, key}), "ben");
}

// MP-17 (partly)
TEST(AuthenticatorTest, NoTokenAWrongOneAndOneHeaderTwiceAreRefused) {
  Authenticator authenticator(tokens());
  for (const Headers& headers :
       {Headers{}, Headers{{"x-api-key", "wrong"}}, Headers{{"x-api-key", " "}},
        Headers{{"x-sallyport-token", "wrong"}, {"x-api-key", "token-of-ann"}},
        Headers{{"authorization", "Bearer wrong"}, {"x-api-key", "token-of-ann"}},
        Headers{{"authorization", "token-of-ann"}},
        Headers{{"x-api-key", "token-of-ann"}, {"x-api-key", "token-of-ann"}},
        Headers{{"authorization", "Bearer token-of-ann"}, {"authorization", "Bearer token-of-ann"}},
        Headers{{"x-sallyport-token", "token-of-ann"}, {"x-api-key", "a"}, {"x-api-key", "b"}},
        Headers{{"x-api-key", std::string(20'000, 'x')}}}) {
    EXPECT_TRUE(who(authenticator, headers).starts_with("error: ")) << headers.size();
  }
}

// MP-17 (partly): if no token is required, every client is the same agent.
TEST(AuthenticatorTest, WithoutTokensEveryRequestIsOfTheLocalAgent) {
  test::TempFolder folder;
  SystemEntropy entropy;
  Authenticator authenticator(
      *AgentTokens::open({.needs_token = false}, "local", folder.path(), entropy));
  EXPECT_EQ(who(authenticator, {}), "local");
  EXPECT_EQ(who(authenticator, {{"x-api-key", "anything"}}), "local");
  EXPECT_TRUE(who(authenticator, {{"x-api-key", "a"}, {"x-api-key", "b"}}).starts_with("error: "));
}

}  // namespace
}  // namespace sallyport::app
