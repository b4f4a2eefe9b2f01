#include "grants/signer.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/entropy.h"
#include "grant_samples.h"

namespace sallyport::grants {
namespace {

std::string key_of(std::string_view file_text) {
  const Result<Signer> signer = Signer::parse(file_text);
  return signer ? signer->key() : "";
}

TEST(SignerTest, AKeyIsReadInEachOfItsForms) {
  SystemEntropy entropy;
  const Signer signer = Signer::generate(entropy);
  const std::string text = signer.file_text();
  const std::string digits = text.substr(text.find(':') + 1, 64);
  const std::string seed = *from_hex(digits);
  const std::string pkcs8 = *from_hex("302e020100300506032b657004220420" + digits);
  const auto pem = [](const std::string& der) {
    return "-----BEGIN PRIVATE KEY-----\n" + base64(as_bytes(der)) +
           "\r\n-----END PRIVATE KEY-----\n";
  };
  for (const std::string& form : {text, digits, digits + "\r\n", seed, pem(pkcs8)}) {
    EXPECT_EQ(key_of(form), signer.key()) << form;
  }
  std::string rsa = pkcs8;
  rsa[8] = static_cast<char>(rsa[8] ^ 1);
  for (const std::string& form :
       {std::string(), std::string("x"), digits.substr(2), digits + "00", digits + "x", pem(rsa),
        pem(pkcs8 + "x"), pem(seed), pem(pkcs8).substr(0, 60)}) {
    EXPECT_EQ(key_of(form), "") << form;
  }
}

// A key or a signature of another length is never given to the cryptography.
TEST(SignerTest, OnlyAWholeKeyAndAWholeSignatureAreGenuine) {
  Token token = read_token(test::text_of(test::root_token()))->leaf();
  ASSERT_TRUE(signed_by_issuer(token));
  const std::string signature = token.signature;
  token.signature.resize(63);
  EXPECT_FALSE(signed_by_issuer(token));
  token.signature = signature + 'x';
  EXPECT_FALSE(signed_by_issuer(token));
  token.signature = signature;
  for (const std::string_view issuer : {"ed25519:", "ed25519:03a1", "ed25519:xyz"}) {
    token.issuer = issuer;
    EXPECT_FALSE(signed_by_issuer(token)) << issuer;
  }
  token.issuer = std::string(test::kKeyA) + "00";
  EXPECT_FALSE(signed_by_issuer(token));
}

// Nothing that a key of small order signs is accepted, so a token must not name one.
TEST(SignerTest, AKeyOfSmallOrderIsNoSigningKey) {
  SystemEntropy entropy;
  EXPECT_TRUE(is_signing_key(Signer::generate(entropy).key()));
  EXPECT_FALSE(is_signing_key("ed25519:" + std::string(64, '0')));
  EXPECT_FALSE(is_signing_key("ed25519:01" + std::string(62, '0')));
  EXPECT_FALSE(is_signing_key("ed25519:" + std::string(64, 'f')));
  EXPECT_FALSE(is_signing_key("x"));
}

}  // namespace
}  // namespace sallyport::grants
