#include "oauth/account.h"

#include <gtest/gtest.h>

#include "oauth/form.h"

namespace sallyport::oauth {
namespace {

const WallTime kNow = *from_rfc3339("2026-11-15T12:00:00Z");

TEST(AccountTest, ALoginIsKeptAsItWas) {
  const Account account{
      .server = "https://h/mcp",
      .resource = "https://h",
      .issuer = "https://as",
      .token_endpoint = "https://as/t",
      .scope = "a b",
      .client = {"id", "s\"ecret", "client_secret_post", "http://127.0.0.1:1/callback"},
      .tokens = {"access", "refresh", "a", kNow}};
  const Result<Account> read = read_account(account_text(account));
  ASSERT_TRUE(read);
  EXPECT_EQ(account_text(*read), account_text(account));
  EXPECT_EQ(read->tokens.expires, kNow);
  for (const char* const bad : {"", "{}", "[]", R"({"version":2,"client":{},"tokens":{}})"}) {
    EXPECT_FALSE(read_account(bad)) << bad;
  }
}

TEST(AccountTest, TokensAreReadWithinLimits) {
  const auto good = read_tokens(
      200, R"({"access_token":"a","token_type":"bearer","expires_in":60,"refresh_token":"r"})",
      kNow);
  ASSERT_TRUE(good);
  EXPECT_EQ(good->access, "a");
  EXPECT_EQ(good->refresh, "r");
  EXPECT_EQ(good->expires, kNow + std::chrono::seconds(60));
  const auto forever = read_tokens(
      200, R"({"access_token":"a","token_type":"Bearer","expires_in":18446744073709551615})", kNow);
  ASSERT_TRUE(forever);
  EXPECT_GT(*forever->expires, kNow);
  const std::string huge(20'000, 'a');
  for (const std::string& bad :
       {std::string("{}"), std::string("[]"), std::string(R"({"access_token":"a"})"),
        std::string(R"({"access_token":"a","token_type":"DPoP"})"),
        std::string(R"({"access_token":"a\r\nX: y","token_type":"Bearer"})"),
        std::string(R"({"access_token":"a b","token_type":"Bearer"})"),
        std::string(R"({"access_token":"","token_type":"Bearer"})"),
        std::string(R"({"access_token":"a","token_type":"Bearer","refresh_token":"\u0000"})"),
        R"({"access_token":")" + huge + R"(","token_type":"Bearer"})"}) {
    EXPECT_FALSE(read_tokens(200, bad, kNow)) << bad.substr(0, 60);
  }
}

TEST(AccountTest, ARefusalIsToldInItsOwnWordsAndNoOthers) {
  const auto refused = read_tokens(
      400, R"({"error":"invalid_grant","error_description":"no\u001b[2J","access_token":"hidden"})",
      kNow);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Unauthenticated);
  EXPECT_NE(refused.error().message.find("`invalid_grant`"), std::string::npos);
  EXPECT_EQ(refused.error().message.find('\x1b'), std::string::npos);
  EXPECT_EQ(refused.error().message.find("hidden"), std::string::npos);
  const auto page = read_tokens(502, "<html>secret</html>", kNow);
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().message.find("secret"), std::string::npos);
}

TEST(AccountTest, ARegistrationNamesTheClient) {
  const auto client = read_registration(
      201,
      R"({"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post"})",
      "none");
  ASSERT_TRUE(client);
  EXPECT_EQ(client->id + client->secret + client->method, "csclient_secret_post");
  EXPECT_EQ(read_registration(200, R"({"client_id":"c"})", "none")->method, "none");
  EXPECT_FALSE(read_registration(201, R"({"client_id":""})", "none"));
  EXPECT_FALSE(read_registration(201, R"({"client_id":"a\nb"})", "none"));
  EXPECT_FALSE(read_registration(403, R"({"client_id":"c"})", "none"));
}

TEST(AccountTest, ScopesAreJoinedOnce) {
  EXPECT_EQ(joined_scopes("a b", " b  c a"), "a b c");
  EXPECT_EQ(joined_scopes("", ""), "");
}

TEST(FormTest, WhatIsWrittenIsReadAgain) {
  const Fields fields{{"a b", "c&d=e"}, {"u", "\xC3\xA4+%"}, {"empty", ""}};
  EXPECT_EQ(form_text(fields), "a%20b=c%26d%3De&u=%C3%A4%2B%25&empty=");
  EXPECT_EQ(read_form(form_text(fields)), fields);
  EXPECT_EQ(field(*read_form("a=1+2&b"), "a"), "1 2");
  for (const char* const bad : {"a=1&a=2", "a=%", "a=%2", "a=%zz"}) {
    EXPECT_FALSE(read_form(bad)) << bad;
  }
}

}  // namespace
}  // namespace sallyport::oauth
