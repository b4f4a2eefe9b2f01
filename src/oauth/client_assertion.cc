#include "oauth/client_assertion.h"

#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/pem.h>

#include <array>
#include <boost/json.hpp>

#include "base/bytes.h"
#include "base/try.h"
#include "oauth/base64url.h"
#include "oauth/openssl_owner.h"
#include "sallyport/json.h"

namespace sallyport::oauth {

namespace {

constexpr std::chrono::seconds kLife{60};
constexpr int kFieldBytes = 32;  // of P-256

std::unexpected<Error> no_key() {
  return fail(
      ErrorCode::InvalidInput,
      "the key of the client is not a private key in PEM; an EC key of P-256, an RSA key of at "
      "least 2048 bits or an Ed25519 key is one");
}

Result<OwnedKey> read_key(const std::string& pem) {
  const Owned<BIO, BIO_free> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  // A key with a passphrase is refused. The passphrase is not asked for.
  const auto none = [](char*, int, int, void*) { return 0; };
  OwnedKey key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, none, nullptr) : nullptr);
  if (!key) return no_key();
  return key;
}

Result<const char*> algorithm_of(const EVP_PKEY* key) {
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_EC:
      if (EVP_PKEY_get_bits(key) == 8 * kFieldBytes) return "ES256";
      break;
    case EVP_PKEY_RSA:
      if (EVP_PKEY_get_bits(key) >= 2048) return "RS256";
      break;
    case EVP_PKEY_ED25519:
      return "EdDSA";
    default:
      break;
  }
  return no_key();
}

// JSON Web Signatures concatenate both numbers; OpenSSL writes them as ASN.1.
Result<std::string> flat_signature(const std::string& der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  const Owned<ECDSA_SIG, ECDSA_SIG_free> pair(
      d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size())));
  std::string flat(2 * kFieldBytes, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(flat.data());
  if (!pair || BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), out, kFieldBytes) < 0 ||
      BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), out + kFieldBytes, kFieldBytes) < 0) {
    return fail(ErrorCode::Internal, "the signature cannot be written");
  }
  return flat;
}

Result<std::string> signature(EVP_PKEY* key, const std::string& text) {
  const OwnedDigest context(EVP_MD_CTX_new());
  const bool edwards = EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519;
  const auto* const data = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = static_cast<std::size_t>(EVP_PKEY_get_size(key));
  std::string out(size, '\0');
  if (!context ||
      EVP_DigestSignInit(context.get(), nullptr, edwards ? nullptr : EVP_sha256(), nullptr, key) !=
          1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, data,
                     text.size()) != 1) {
    return fail(ErrorCode::Internal, "the key of the client does not sign");
  }
  out.resize(size);
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC ? flat_signature(out) : Result<std::string>(out);
}

std::int64_t seconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

std::string random_text(Entropy& entropy) {
  std::array<std::uint8_t, 32> random{};
  entropy.fill(random);
  return base64url(as_text(random));
}

Result<std::string> client_assertion(const std::string& pem, const std::string& client_id,
                                     const std::string& audience, WallTime now, Entropy& entropy) {
  SALLYPORT_TRY(const OwnedKey key, read_key(pem));
  SALLYPORT_TRY(const char* const algorithm, algorithm_of(key.get()));
  const json::object head{{"alg", algorithm}, {"typ", "JWT"}};
  const json::object claims{{"iss", client_id},
                            {"sub", client_id},
                            {"aud", audience},
                            {"iat", seconds(now)},
                            {"exp", seconds(now + kLife)},
                            {"jti", random_text(entropy)}};
  const std::string text =
      base64url(json::serialize(head)) + '.' + base64url(json::serialize(claims));
  SALLYPORT_TRY(const std::string signed_by, signature(key.get(), text));
  return text + '.' + base64url(signed_by);
}

}  // namespace sallyport::oauth
