#include "oauth/resource_server.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/keyed_digest.h"
#include "oauth/access_token.h"
#include "support/governed.h"
#include "support/test_clock.h"
#include "token_maker.h"

namespace sallyport::oauth {
namespace {

using namespace std::chrono_literals;

constexpr const char* kIssuer = "https://as.example.com/realm";
constexpr const char* kAudience = "https://gate.example.com/mcp";

class ResourceServerTest : public testing::Test {
 protected:
  ResourceServerTest() { published = key_set({kRsa.jwk(), kEc.jwk(), kEdwards.jwk()}); }

  // One issuer, as in most configurations.
  ResourceServer& server() {
    if (server_) return *server_;
    ResourceServer::Issuer issuer{
        .name = "corp", .issuer = kIssuer, .audience = kAudience, .keys = source()};
    if (!claims_of_agent.empty()) issuer.agent_claims = claims_of_agent;
    issuer.agents = named;
    server_.emplace(ResourceServer::Settings{.clock = clock,
                                             .issuers = {issuer},
                                             .scopes = scopes,
                                             .log = [this](std::string_view line) {
                                               logged += line;
                                               logged += '\n';
                                             }});
    return *server_;
  }

  KeySource source() {
    return [this] { return fetched(); };
  }
  Task<std::string> fetched() {
    ++fetches;
    if (answers_after.count() > 0) {
      boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, answers_after);
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    if (published.empty()) co_return fail(ErrorCode::Unavailable, "nobody answers");
    co_return published;
  }

  Result<std::string> agent(const std::string& token) {
    return test::run_now(server().agent_of(token));
  }
  std::string why(const std::string& token) {
    const Result<std::string> said = agent(token);
    if (said) return "let in as " + *said;
    EXPECT_EQ(said.error().code, ErrorCode::Unauthenticated) << said.error().message;
    return said.error().message;
  }
  bool undecided(const std::string& token) {
    const Result<std::string> said = agent(token);
    return !said && said.error().code == ErrorCode::Unavailable;
  }

  std::int64_t in(std::chrono::seconds time) const {
    return std::chrono::duration_cast<std::chrono::seconds>(
               (clock.wall() + time).time_since_epoch())
        .count();
  }
  json::object claims() const {
    return {{"iss", kIssuer},  {"aud", kAudience},   {"exp", in(300s)}, {"iat", in(0s)},
            {"sub", "person"}, {"client_id", "bot"}, {"jti", "1"}};
  }
  json::object claims(std::string_view name, json::value value) const {
    json::object out = claims();
    out[name] = std::move(value);
    return out;
  }
  json::object without(std::string_view name) const {
    json::object out = claims();
    out.erase(name);
    return out;
  }

  test::TestClock clock;
  // Generating keys takes long.
  inline static const TokenMaker kRsa{"RSA", "r"};
  inline static const TokenMaker kEc{"P-256", "e"};
  inline static const TokenMaker kEdwards{"ED25519", "o"};
  std::string published;
  int fetches = 0;
  std::chrono::milliseconds answers_after{0};
  std::string logged;
  std::vector<std::string> scopes;
  std::vector<std::string> claims_of_agent;
  std::map<std::string, std::string> named;

 private:
  std::optional<ResourceServer> server_;
};

TEST_F(ResourceServerTest, AGoodTokenOfEachKindIsLetIn) {
  EXPECT_EQ(why(kRsa.token(claims(), "RS256")), "let in as corp/bot");
  EXPECT_EQ(why(kRsa.token(claims(), "PS256")), "let in as corp/bot");
  EXPECT_EQ(why(kEc.token(claims(), "ES256")), "let in as corp/bot");
  EXPECT_EQ(why(kEdwards.token(claims(), "EdDSA")), "let in as corp/bot");
  EXPECT_EQ(why(kEdwards.token(claims(), "Ed25519")), "let in as corp/bot");
  EXPECT_EQ(fetches, 1);
}

TEST_F(ResourceServerTest, AnotherIssuerOrAudienceIsNotTrusted) {
  for (const char* const other :
       {"https://as.example.com/realm/", "https://AS.example.com/realm", "https://evil", ""}) {
    EXPECT_EQ(why(kEc.token(claims("iss", other), "ES256")),
              "the token is of an issuer that is not trusted");
  }
  EXPECT_EQ(why(kEc.token(claims("iss", json::array{kIssuer}), "ES256")),
            "the token is of an issuer that is not trusted");
  for (const json::value& other :
       {json::value("https://gate.example.com"), json::value("https://gate.example.com/mcp/"),
        json::value(json::array{}), json::value(json::array{"a", 1}), json::value(nullptr)}) {
    EXPECT_EQ(why(kEc.token(claims("aud", other), "ES256")), "the token is for another audience");
  }
  EXPECT_EQ(fetches, 0) << "nobody is asked for keys because of them";
  EXPECT_EQ(why(kEc.token(claims("aud", json::array{"a", kAudience}), "ES256")),
            "let in as corp/bot");
}

TEST_F(ResourceServerTest, ATokenIsGoodInItsTimeAndAMinuteAround) {
  EXPECT_EQ(why(kEc.token(claims("exp", in(-59s)), "ES256")), "let in as corp/bot");
  EXPECT_EQ(why(kEc.token(claims("exp", in(-60s)), "ES256")), "the token has expired");
  EXPECT_EQ(why(kEc.token(claims("nbf", in(60s)), "ES256")), "let in as corp/bot");
  EXPECT_EQ(why(kEc.token(claims("nbf", in(61s)), "ES256")), "the token is not valid yet");
  EXPECT_EQ(why(kEc.token(claims("nbf", "now"), "ES256")), "the token is not valid yet");
  EXPECT_EQ(why(kEc.token(claims("exp", double(in(300s)) + 0.5), "ES256")), "let in as corp/bot");
  for (const json::value& none :
       {json::value("2027"), json::value(-1), json::value(1e300), json::value(nullptr)}) {
    EXPECT_EQ(why(kEc.token(claims("exp", none), "ES256")),
              "the token does not say when it expires");
  }
  const std::string token = kEc.token(claims(), "ES256");
  clock.advance(359s);
  EXPECT_EQ(why(token), "let in as corp/bot");
  clock.advance(1s);
  EXPECT_EQ(why(token), "the token has expired");
}

TEST_F(ResourceServerTest, ClaimsThatAreMissingAreMissed) {
  EXPECT_EQ(why(kEc.token(without("iss"), "ES256")),
            "the token is of an issuer that is not trusted");
  EXPECT_EQ(why(kEc.token(without("aud"), "ES256")), "the token is for another audience");
  EXPECT_EQ(why(kEc.token(without("exp"), "ES256")), "the token does not say when it expires");
  json::object nobody = without("client_id");
  nobody.erase("sub");
  EXPECT_EQ(why(kEc.token(nobody, "ES256")), "the token does not say whose it is");
  EXPECT_EQ(why(kEc.token(claims("cnf", json::object{{"jkt", "x"}}), "ES256")),
            "the token is bound to a key, and is not a bearer token");
}

TEST_F(ResourceServerTest, OnlySignaturesOfKnownKindsCount) {
  const std::string unknown = "the token is not signed with RS256, PS256, ES256 or EdDSA";
  for (const char* const algorithm : {"none", "None", "HS256", "HS512", "RS1", "ES256K", ""}) {
    EXPECT_EQ(why(kEc.token(claims(), algorithm)), unknown) << algorithm;
  }
  const std::string bare =
      base64url(R"({"alg":"none"})") + '.' + base64url(json::serialize(claims()));
  EXPECT_EQ(why(bare + '.'), unknown);
  EXPECT_EQ(why(bare), "the token is not known here");
  EXPECT_EQ(why(kEc.token(claims(), json::object{{"kid", "e"}})), unknown);
  EXPECT_EQ(why(kEc.token(claims(), json::object{{"alg", 1}, {"kid", "e"}})), unknown);
}

// A known attack: the public key, which is public, as the secret of a symmetric signature.
TEST_F(ResourceServerTest, APublicKeyIsNoSecret) {
  const std::string text =
      base64url(R"({"alg":"HS256","kid":"r"})") + '.' + base64url(json::serialize(claims()));
  const Hash mac = hmac_sha256(json::serialize(kRsa.jwk()), text);
  EXPECT_EQ(why(text + '.' + base64url(text_of(mac))),
            "the token is not signed with RS256, PS256, ES256 or EdDSA");
}

TEST_F(ResourceServerTest, AKeyIsUsedForItsOwnKindOnly) {
  const auto head = [](const char* algorithm, const char* id) {
    return json::object{{"alg", algorithm}, {"kid", id}};
  };
  const std::string unknown = "the token is signed with a key that is not known";
  EXPECT_EQ(why(kEc.token(claims(), head("RS256", "e"))), unknown);
  EXPECT_EQ(why(kRsa.token(claims(), head("ES256", "r"))), unknown);
  EXPECT_EQ(why(kEdwards.token(claims(), head("ES256", "o"))), unknown);
  const std::string wrong = "the signature of the token is wrong";
  EXPECT_EQ(why(kRsa.token(claims(), head("EdDSA", "o"))), wrong);
  EXPECT_EQ(why(TokenMaker("RSA", "r").token(claims(), "RS256")), wrong);
  EXPECT_EQ(why(TokenMaker("P-256", "e").token(claims(), "ES256")), wrong);
  // RS256 is not PS256, with the same key.
  const std::string token = kRsa.token(claims(), "RS256");
  const std::string other = kRsa.token(claims(), "PS256");
  EXPECT_EQ(why(other.substr(0, other.rfind('.')) + token.substr(token.rfind('.'))), wrong);
}

TEST_F(ResourceServerTest, WhatWasChangedIsNotTheToken) {
  const std::string token = kEc.token(claims(), "ES256");
  const std::size_t first = token.find('.');
  const std::size_t second = token.rfind('.');
  const std::string changed = token.substr(0, first + 1) +
                              base64url(json::serialize(claims("client_id", "root"))) +
                              token.substr(second);
  EXPECT_EQ(why(changed), "the signature of the token is wrong");
  for (std::size_t i = 0; i < token.size(); i += 7) {
    std::string bent = token;
    bent[i] = bent[i] == 'A' ? 'B' : 'A';
    if (bent != token) EXPECT_FALSE(why(bent).starts_with("let in")) << i;
  }
  EXPECT_EQ(why(token.substr(0, second + 1)), "the token is malformed");
  EXPECT_EQ(why(token + '='), "the token is malformed");
  EXPECT_EQ(why(token + ".x"), "the token is malformed");
  EXPECT_EQ(why(token.substr(0, token.size() - 2)), "the signature of the token is wrong");
}

TEST_F(ResourceServerTest, WhatIsNoTokenCostsNothing) {
  for (const std::string& text :
       {std::string(), std::string("x"), std::string("a.b"), std::string("..."),
        std::string("e30.e30.e30"), std::string(20'000, 'a'), std::string(15'000, '.'),
        base64url(std::string(3000, '[')) + ".e30.e30",
        base64url(R"({"alg":"ES256","alg":"ES256"})") + ".e30.e30"}) {
    EXPECT_FALSE(why(text).starts_with("let in"));
  }
  EXPECT_EQ(why(kEc.token(claims("x", json::string(20'000, 'x')), "ES256")),
            "the token is too long");
  EXPECT_EQ(fetches, 0);
}

TEST_F(ResourceServerTest, TokensForAnotherPurposeAreRefused) {
  const auto typed = [&](const json::value& type) {
    return why(kEc.token(claims(), json::object{{"alg", "ES256"}, {"kid", "e"}, {"typ", type}}));
  };
  for (const char* const good : {"at+jwt", "AT+JWT", "application/at+jwt", "JWT"}) {
    EXPECT_EQ(typed(good), "let in as corp/bot") << good;
  }
  for (const char* const bad : {"logout+jwt", "dpop+jwt", "secevent+jwt", ""}) {
    EXPECT_EQ(typed(bad), "the token is not an access token") << bad;
  }
  EXPECT_EQ(typed(1), "the token is not an access token");
  EXPECT_EQ(why(kEc.token(
                claims(),
                json::object{
                    {"alg", "ES256"}, {"kid", "e"}, {"b64", false}, {"crit", json::array{"b64"}}})),
            "the token has critical extensions");
  // A key that comes with the token is not trusted.
  const TokenMaker own("P-256", "own");
  EXPECT_EQ(why(own.token(claims(), json::object{{"alg", "ES256"},
                                                 {"jwk", own.jwk()},
                                                 {"jku", "https://evil/keys"},
                                                 {"kid", "own"}})),
            "the token is signed with a key that is not known");
}

TEST_F(ResourceServerTest, AllScopesAreNeeded) {
  scopes = {"tools", "read"};
  for (const json::value& enough : {json::value("tools read"), json::value("a read  tools")}) {
    EXPECT_EQ(why(kEc.token(claims("scope", enough), "ES256")), "let in as corp/bot");
  }
  EXPECT_EQ(why(kEc.token(claims("scp", json::array{"tools", "read"}), "ES256")),
            "let in as corp/bot");
  for (const json::value& lacking :
       {json::value("tools"), json::value("toolsread"), json::value(""), json::value(1)}) {
    const Result<std::string> said = agent(kEc.token(claims("scope", lacking), "ES256"));
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().cause, kInsufficientScope);
  }
}

TEST_F(ResourceServerTest, AnAgentHasTheNameOfItsClaimBehindThatOfTheIssuer) {
  named = {{"0oa1", "ci"}};
  EXPECT_EQ(why(kEc.token(claims("client_id", "0oa1"), "ES256")), "let in as ci");
  EXPECT_EQ(why(kEc.token(claims("client_id", "ci"), "ES256")), "let in as corp/ci");
  EXPECT_EQ(why(kEc.token(claims("client_id", "a/b|c"), "ES256")), "let in as corp/a/b|c");
  json::object by_azp = without("client_id");
  by_azp["azp"] = "app";
  EXPECT_EQ(why(kEc.token(by_azp, "ES256")), "let in as corp/app");
  EXPECT_EQ(why(kEc.token(without("client_id"), "ES256")), "let in as corp/person");
  const std::string unfit = "the token names its agent in a way that cannot be recorded";
  for (const json::value& bad :
       {json::value(""), json::value(1), json::value("a b"), json::value("a\nb"),
        json::value("\u00e4"), json::value(std::string(257, 'a'))}) {
    EXPECT_EQ(why(kEc.token(claims("client_id", bad), "ES256")), unfit);
  }
}

TEST_F(ResourceServerTest, TheClaimThatNamesTheAgentCanBeChosen) {
  claims_of_agent = {"sub"};
  EXPECT_EQ(why(kEc.token(claims(), "ES256")), "let in as corp/person");
  EXPECT_EQ(why(kEc.token(without("sub"), "ES256")), "the token does not say whose it is");
}

TEST_F(ResourceServerTest, ANewKeyIsFoundAndAnOldOneForgotten) {
  EXPECT_EQ(why(kEc.token(claims(), "ES256")), "let in as corp/bot");
  const TokenMaker next("P-256", "next");
  published = key_set({next.jwk()});
  EXPECT_EQ(why(next.token(claims(), "ES256")), "let in as corp/bot");
  EXPECT_EQ(fetches, 2);
  EXPECT_EQ(why(kEc.token(claims(), "ES256")), "the token is signed with a key that is not known");
}

TEST_F(ResourceServerTest, UnknownKeysMakeUsAskNoMoreOftenThanTheServerCanStand) {
  const TokenMaker stranger("ED25519", "stranger");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(why(stranger.token(claims(), "EdDSA")),
              "the token is signed with a key that is not known");
  }
  EXPECT_EQ(fetches, IssuerKeys::kFetchesInARow);
  EXPECT_EQ(why(kEc.token(claims(), "ES256")), "let in as corp/bot") << "others do not notice";
  clock.advance(IssuerKeys::kBetweenFetches);
  for (int i = 0; i < 10; ++i) (void)agent(stranger.token(claims(), "EdDSA"));
  EXPECT_EQ(fetches, IssuerKeys::kFetchesInARow + 1);
  published = key_set({stranger.jwk()});
  clock.advance(IssuerKeys::kBetweenFetches);
  EXPECT_EQ(why(stranger.token(claims(), "EdDSA")), "let in as corp/bot");
}

TEST_F(ResourceServerTest, KeysOfAServerThatIsAwayAreUsedForAWhile) {
  const auto token = [&] { return kEc.token(claims(), "ES256"); };
  EXPECT_EQ(why(token()), "let in as corp/bot");
  published.clear();
  clock.advance(IssuerKeys::kFresh);
  EXPECT_EQ(why(token()), "let in as corp/bot");
  EXPECT_EQ(fetches, 2);
  EXPECT_NE(logged.find("the keys of `https://as.example.com/realm` cannot be had: nobody answers"),
            std::string::npos);
  // The key may be new, so the token may become valid later.
  EXPECT_TRUE(undecided(TokenMaker("P-256", "new").token(claims(), "ES256")));
  clock.advance(IssuerKeys::kUsable - IssuerKeys::kFresh);
  EXPECT_TRUE(undecided(token()));
  published = key_set({kEc.jwk()});
  EXPECT_EQ(why(token()), "let in as corp/bot");
}

TEST_F(ResourceServerTest, ManyWhoComeAtOnceAskOnce) {
  answers_after = 30ms;
  boost::asio::io_context loop;
  std::vector<std::string> seen;
  const auto come = [&](std::string token) {
    boost::asio::co_spawn(loop, server().agent_of(std::move(token)),
                          [&](std::exception_ptr, Result<std::string> said) {
                            seen.push_back(said.value_or("nobody"));
                          });
  };
  for (int i = 0; i < 5; ++i) come(kEc.token(claims(), "ES256"));
  loop.run();
  EXPECT_EQ(seen, std::vector<std::string>(5, "corp/bot"));
  EXPECT_EQ(fetches, 1);
  // A token with a known key waits only until the repeated request has begun.
  clock.advance(IssuerKeys::kFresh);
  seen.clear();
  come(kEc.token(claims(), "ES256"));
  come(kRsa.token(claims("client_id", "second"), "RS256"));
  loop.restart();
  loop.run();
  EXPECT_EQ(seen, (std::vector<std::string>{"corp/second", "corp/bot"}));
  EXPECT_EQ(fetches, 2);
}

TEST_F(ResourceServerTest, WithoutKeysNobodyIsLetIn) {
  published.clear();
  EXPECT_TRUE(undecided(kEc.token(claims(), "ES256")));
  published = "no keys";
  EXPECT_TRUE(undecided(kEc.token(claims(), "ES256")));
  published = R"({"keys":[]})";
  EXPECT_EQ(why(kEc.token(claims(), "ES256")), "the token is signed with a key that is not known");
  EXPECT_NE(logged.find("has no key that tokens are checked with"), std::string::npos);
  EXPECT_EQ(why(kEc.token(claims("aud", "x"), "ES256")), "the token is for another audience");
}

// Two issuers: the keys of one do not sign for the other.
TEST_F(ResourceServerTest, AnIssuerSpeaksForItselfAlone) {
  const TokenMaker mine("P-256", "k");
  const TokenMaker yours("P-256", "k");
  const auto issuer = [](std::string name, const TokenMaker& maker) {
    return ResourceServer::Issuer{.name = name,
                                  .issuer = "https://" + name,
                                  .audience = kAudience,
                                  .keys = [text = key_set({maker.jwk()})] {
                                    return [](std::string keys) -> Task<std::string> {
                                      co_return keys;
                                    }(text);
                                  }};
  };
  ResourceServer both({.clock = clock,
                       .issuers = {issuer("mine", mine), issuer("yours", yours)},
                       .log = [](std::string_view) {}});
  EXPECT_EQ(test::run_now(both.agent_of(mine.token(claims("iss", "https://mine"), "ES256"))),
            "mine/bot");
  EXPECT_EQ(test::run_now(both.agent_of(yours.token(claims("iss", "https://yours"), "ES256"))),
            "yours/bot");
  EXPECT_FALSE(test::run_now(both.agent_of(mine.token(claims("iss", "https://yours"), "ES256"))));
}

}  // namespace
}  // namespace sallyport::oauth
