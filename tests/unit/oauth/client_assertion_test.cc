#include "oauth/client_assertion.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <boost/json.hpp>
#include <memory>

#include "base/encoding.h"

namespace sallyport::oauth {
namespace {

namespace json = boost::json;

std::string pem_of(EVP_PKEY* key) {
  BIO* const bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string pem(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  EVP_PKEY_free(key);
  return pem;
}

std::string decoded(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (text.size() % 4 != 0) text += '=';
  return from_base64(text).value_or("");
}

TEST(ClientAssertionTest, EachKindOfKeySignsInItsOwnWay) {
  SystemEntropy entropy;
  const WallTime now = *from_rfc3339("2026-11-15T12:00:00Z");
  const struct {
    std::string pem;
    const char* algorithm;
    std::size_t signature;
  } kinds[] = {{pem_of(EVP_EC_gen("P-256")), "ES256", 64},
               {pem_of(EVP_RSA_gen(2048)), "RS256", 256},
               {pem_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")), "EdDSA", 64}};
  for (const auto& kind : kinds) {
    const Result<std::string> made =
        client_assertion(kind.pem, "client", "https://as", now, entropy);
    ASSERT_TRUE(made) << kind.algorithm;
    const std::size_t first = made->find('.');
    const std::size_t second = made->find('.', first + 1);
    const json::value head = json::parse(decoded(made->substr(0, first)));
    const json::value claims = json::parse(decoded(made->substr(first + 1, second - first - 1)));
    EXPECT_EQ(head.at("alg").as_string(), kind.algorithm);
    EXPECT_EQ(claims.at("iss"), claims.at("sub"));
    EXPECT_EQ(claims.at("aud").as_string(), "https://as");
    EXPECT_EQ(claims.at("exp").as_int64() - claims.at("iat").as_int64(), 60);
    EXPECT_EQ(decoded(made->substr(second + 1)).size(), kind.signature);
  }
}

TEST(ClientAssertionTest, OtherKeysAreRefused) {
  SystemEntropy entropy;
  for (const std::string& pem : {std::string(), std::string("no key"), pem_of(EVP_EC_gen("P-384")),
                                 pem_of(EVP_RSA_gen(1024))}) {
    const auto refused = client_assertion(pem, "client", "https://as", WallTime{}, entropy);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidInput);
  }
}

}  // namespace
}  // namespace sallyport::oauth
