#include "oauth/metadata.h"

#include <gtest/gtest.h>

namespace sallyport::oauth {
namespace {

using Places = std::vector<std::string>;

net::Url url(std::string_view text) {
  return *net::Url::parse(text);
}

TEST(MetadataTest, ServersAreLookedForWhereTheSpecificationSays) {
  EXPECT_EQ(resource_metadata_places(url("https://h:8443/a/mcp?x=1")),
            (Places{"https://h:8443/.well-known/oauth-protected-resource/a/mcp",
                    "https://h:8443/.well-known/oauth-protected-resource"}));
  EXPECT_EQ(resource_metadata_places(url("https://h")),
            (Places{"https://h/.well-known/oauth-protected-resource"}));
  EXPECT_EQ(server_metadata_places(url("https://as/tenant/")),
            (Places{"https://as/.well-known/oauth-authorization-server/tenant",
                    "https://as/.well-known/openid-configuration/tenant",
                    "https://as/tenant/.well-known/openid-configuration"}));
  EXPECT_EQ(server_metadata_places(url("https://as")),
            (Places{"https://as/.well-known/oauth-authorization-server",
                    "https://as/.well-known/openid-configuration"}));
}

TEST(MetadataTest, AResourceIsTheServerOrStandsAboveIt) {
  const net::Url server = url("https://h/a/mcp");
  for (const char* const good :
       {"https://h", "https://h/", "https://H/a", "https://h:443/a/", "https://h/a/mcp"}) {
    EXPECT_TRUE(covers(good, server)) << good;
  }
  for (const char* const bad : {"http://h/a/mcp", "https://h:8443/a/mcp", "https://other/a/mcp",
                                "https://h/a/mc", "https://h/a/mcp/x", "https://h/a/mcp#x", ""}) {
    EXPECT_FALSE(covers(bad, server)) << bad;
  }
}

TEST(MetadataTest, NoServerSendsUsToWhatIsNotEncrypted) {
  const net::Url remote = url("https://h/mcp");
  const net::Url here = url("http://127.0.0.1:1/mcp");
  EXPECT_TRUE(reachable("https://as/token", remote, false));
  EXPECT_TRUE(reachable("http://localhost:2/token", here, false));
  EXPECT_TRUE(reachable("http://10.0.0.1/token", remote, true));
  // Not to other programs on this machine either.
  for (const char* const bad :
       {"http://as/token", "http://127.0.0.1/token", "ftp://as", "javascript:alert(1)", "/token",
        "https://user:pass@as/token", "https://as/token#", "https://as/#\x1b[2J", ""}) {
    EXPECT_FALSE(reachable(bad, remote, false)) << bad;
  }
  EXPECT_FALSE(reachable("http://10.0.0.1/token", here, false));
}

TEST(MetadataTest, AnIssuerIsComparedLetterByLetter) {
  const auto read = [](std::string_view issuer) {
    return read_server_metadata(R"({"issuer":"https://as/a","token_endpoint":"https://as/t"})",
                                issuer);
  };
  EXPECT_TRUE(read("https://as/a"));
  for (const char* const other : {"https://as/a/", "https://AS/a", "https://as:443/a", ""}) {
    const auto refused = read(other);
    ASSERT_FALSE(refused) << other;
    EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
  }
}

TEST(MetadataTest, WhatIsNotSaidIsNotThere) {
  const auto bare =
      read_server_metadata(R"({"issuer":"i","token_endpoint":"t","scopes_supported":[1]})", "i");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->client_methods, (Places{"client_secret_basic"}));
  EXPECT_TRUE(bare->scopes.empty() && !bare->has_s256 && !bare->returns_issuer);
  EXPECT_FALSE(read_server_metadata(R"({"issuer":"i"})", "i"));
  for (const char* const text :
       {"", "[]", "{", R"({"resource":"r"})", R"({"resource":"r","authorization_servers":[]})",
        R"({"resource":1,"authorization_servers":["a"]})",
        R"({"resource":"r","authorization_servers":"a"})",
        R"({"resource":"r","resource":"s","authorization_servers":["a"]})"}) {
    EXPECT_FALSE(read_resource_metadata(text)) << text;
  }
  const std::string long_text(kMostBytes + 1, ' ');
  EXPECT_FALSE(read_resource_metadata(long_text));
}

}  // namespace
}  // namespace sallyport::oauth
