#include "guards/redact/sensitive_name.h"

#include <gtest/gtest.h>

#include <string>

namespace sallyport::guards {
namespace {

// LE-55, AU-82
TEST(SensitiveNameTest, NamesOfTheListAreSensitiveHoweverTheyAreWritten) {
  for (const std::string name : {"password",
                                 "Password",
                                 "PASSWORD",
                                 "passwd",
                                 "pwd",
                                 "secret",
                                 "token",
                                 "api_key",
                                 "apikey",
                                 "apiKey",
                                 "API-Key",
                                 "X-Api-Key",
                                 "x-token",
                                 "access_token",
                                 "accessToken",
                                 "refresh_token",
                                 "id_token",
                                 "auth_token",
                                 "X-Auth-Token",
                                 "Authorization",
                                 "Proxy-Authorization",
                                 "client_secret",
                                 "clientSecret",
                                 "private_key",
                                 "secret_key",
                                 "SecretAccessKey",
                                 "credential",
                                 "credentials",
                                 "Cookie",
                                 "Set-Cookie",
                                 "x-cookie",
                                 "X-Authorization",
                                 "passphrase"}) {
    EXPECT_TRUE(is_sensitive_name(name)) << name;
  }
}

// LE-55, AU-82
TEST(SensitiveNameTest, NamesThatEndInASensitiveWordAreSensitive) {
  for (const std::string name :
       {"db_password", "DB_PASSWORD", "dbPassword", "smtp-passwd", "webhook_secret", "githubToken",
        "userIDToken", "X-Amz-Security-Token", "openai_api_key", "openaiApiKey", "OPENAI_API_KEY",
        "ssh_private_key", "stripe_secret_key", "aws_secret_access_key", "csrf_token"}) {
    EXPECT_TRUE(is_sensitive_name(name)) << name;
  }
  EXPECT_TRUE(is_sensitive_name(std::string(1000, 'a') + "_password"));
}

// LE-55
TEST(SensitiveNameTest, CountersBookmarksAndVocabularyAreNotSensitive) {
  for (const std::string name :
       {"max_tokens", "input_tokens", "output_tokens", "tokens", "token_count", "token_type",
        "progress_token", "progressToken", "next_page_token", "nextPageToken", "pageToken",
        "NextToken", "continuation_token", "next_sync_token", "cost_per_token", "eos_token",
        "cursor", "nextCursor"}) {
    EXPECT_FALSE(is_sensitive_name(name)) << name;
  }
}

// LE-55
TEST(SensitiveNameTest, NamesThatMerelyContainASensitiveWordAreNotSensitive) {
  for (const std::string name :
       {"", "x-", "_", "name", "path", "password_hint_shown", "secretary", "topsecret", "author",
        "authorizations_count", "cookies_enabled", "public_key", "key", "access_key_id", "OLDPWD",
        "tokenizer", "content"}) {
    EXPECT_FALSE(is_sensitive_name(name)) << name;
  }
  EXPECT_FALSE(is_sensitive_name(std::string(100000, 'a')));
}

}  // namespace
}  // namespace sallyport::guards
