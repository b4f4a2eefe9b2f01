#include "oauth/json_web_key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "oauth/base64url.h"
#include "oauth/metadata.h"

namespace sallyport::oauth {

namespace {

constexpr std::size_t kDeepestKeySet = 16;
constexpr std::size_t kMostKeys = 100;
constexpr std::size_t kLongestKeyId = 1024;
constexpr std::size_t kPointBytes = 32;  // of P-256 and of Ed25519
// Shorter ones are not safe, longer ones take too long to check.
constexpr std::size_t kLeastRsaBytes = 256;
constexpr std::size_t kMostRsaBytes = 1024;
constexpr std::size_t kMostExponentBytes = 8;

using Parameters = Owned<OSSL_PARAM, OSSL_PARAM_free>;
using ParameterBuilder = Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using Number = Owned<BIGNUM, BN_free>;
using EcSignature = Owned<ECDSA_SIG, ECDSA_SIG_free>;

const unsigned char* raw(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// Empty: it is absent, or wrongly encoded.
std::string bytes_in(const json::object& jwk, std::string_view name) {
  const auto text = text_in(jwk, name);
  return text ? from_base64url(*text).value_or("") : std::string();
}

Number number_in_bytes(std::string_view bytes) {
  return Number(BN_bin2bn(raw(bytes), static_cast<int>(bytes.size()), nullptr));
}

OwnedKey key_of(const char* kind, OSSL_PARAM_BLD* builder) {
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder));
  const Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(
      EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
    return nullptr;
  }
  return OwnedKey(key);
}

OwnedKey rsa_key(const json::object& jwk) {
  const std::string modulus = bytes_in(jwk, "n");
  const std::string exponent = bytes_in(jwk, "e");
  if (modulus.size() < kLeastRsaBytes || modulus.size() > kMostRsaBytes || exponent.empty() ||
      exponent.size() > kMostExponentBytes) {
    return nullptr;
  }
  const Number n = number_in_bytes(modulus);
  const Number e = number_in_bytes(exponent);
  const ParameterBuilder builder(OSSL_PARAM_BLD_new());
  if (!n || !e || !builder || BN_num_bits(n.get()) < static_cast<int>(8 * kLeastRsaBytes) ||
      BN_is_one(e.get()) || !BN_is_odd(e.get()) ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return nullptr;
  }
  return key_of("RSA", builder.get());
}

// OpenSSL refuses points that are not on the curve.
OwnedKey p256_key(const json::object& jwk) {
  const std::string x = bytes_in(jwk, "x");
  const std::string y = bytes_in(jwk, "y");
  if (text_in(jwk, "crv") != "P-256" || x.size() != kPointBytes || y.size() != kPointBytes) {
    return nullptr;
  }
  const std::string point = '\x04' + x + y;
  const ParameterBuilder builder(OSSL_PARAM_BLD_new());
  if (!builder ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) !=
          1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1) {
    return nullptr;
  }
  return key_of("EC", builder.get());
}

OwnedKey ed25519_key(const json::object& jwk) {
  const std::string x = bytes_in(jwk, "x");
  if (text_in(jwk, "crv") != "Ed25519" || x.size() != kPointBytes) return nullptr;
  return OwnedKey(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw(x), x.size()));
}

// A key that does not name its use is for every use.
bool is_for_signatures(const json::object& jwk) {
  if (jwk.contains("use") && text_in(jwk, "use") != "sig") return false;
  const json::value* const operations = jwk.if_contains("key_ops");
  if (operations == nullptr) return true;
  return operations->is_array() &&
         std::ranges::find(operations->get_array(), json::value("verify")) !=
             operations->get_array().end();
}

// JSON Web Signatures concatenate both numbers; OpenSSL reads them as ASN.1. Empty: it is no pair
// of numbers.
std::string asn1_signature(std::string_view flat) {
  if (flat.size() != 2 * kPointBytes) return {};
  const EcSignature pair(ECDSA_SIG_new());
  Number r = number_in_bytes(flat.substr(0, kPointBytes));
  Number s = number_in_bytes(flat.substr(kPointBytes));
  if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return {};
  (void)r.release();  // both belong to the pair now
  (void)s.release();
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  if (size <= 0) return {};
  std::string out(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

// The salt is as long as the digest (RFC 7518, section 3.5).
bool set_pss(EVP_PKEY_CTX* parameters) {
  return EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1;
}

}  // namespace

std::optional<Algorithm> signature_algorithm(std::string_view name) {
  if (name == "RS256") return Algorithm::RS256;
  if (name == "PS256") return Algorithm::PS256;
  if (name == "ES256") return Algorithm::ES256;
  if (name == "EdDSA" || name == "Ed25519") return Algorithm::EdDSA;  // RFC 8037, RFC 9864
  return std::nullopt;
}

VerifyKey::VerifyKey(OwnedKey key, std::vector<Algorithm> algorithms, std::optional<std::string> id)
    : key_(std::move(key)), algorithms_(std::move(algorithms)), id_(std::move(id)) {}

std::optional<VerifyKey> VerifyKey::read(const json::object& jwk) {
  const std::string_view kind = text_in(jwk, "kty").value_or("");
  OwnedKey key;
  std::vector<Algorithm> algorithms;
  if (!is_for_signatures(jwk)) return std::nullopt;
  if (kind == "RSA") {
    key = rsa_key(jwk);
    algorithms = {Algorithm::RS256, Algorithm::PS256};
  } else if (kind == "EC") {
    key = p256_key(jwk);
    algorithms = {Algorithm::ES256};
  } else if (kind == "OKP") {
    key = ed25519_key(jwk);
    algorithms = {Algorithm::EdDSA};
  }
  ERR_clear_error();
  if (!key) return std::nullopt;
  if (jwk.contains("alg")) {
    const auto only = signature_algorithm(text_in(jwk, "alg").value_or(""));
    if (!only || std::ranges::find(algorithms, *only) == algorithms.end()) return std::nullopt;
    algorithms = {*only};
  }
  std::optional<std::string> id;
  if (jwk.contains("kid")) {
    const auto text = text_in(jwk, "kid");
    if (!text || text->size() > kLongestKeyId) return std::nullopt;
    id = std::string(*text);
  }
  return VerifyKey(std::move(key), std::move(algorithms), std::move(id));
}

bool VerifyKey::fits(Algorithm algorithm) const {
  return std::ranges::find(algorithms_, algorithm) != algorithms_.end();
}

bool VerifyKey::verifies(Algorithm algorithm, std::string_view text,
                         std::string_view signature) const {
  if (!fits(algorithm)) return false;
  std::string asn1;
  if (algorithm == Algorithm::ES256) {
    asn1 = asn1_signature(signature);
    signature = asn1;
  }
  const OwnedDigest context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* parameters = nullptr;  // the context's
  const EVP_MD* const digest = algorithm == Algorithm::EdDSA ? nullptr : EVP_sha256();
  const bool good =
      context &&
      EVP_DigestVerifyInit(context.get(), &parameters, digest, nullptr, key_.get()) == 1 &&
      (algorithm != Algorithm::PS256 || set_pss(parameters)) &&
      EVP_DigestVerify(context.get(), raw(signature), signature.size(), raw(text), text.size()) ==
          1;
  ERR_clear_error();
  return good;
}

Result<KeySet> KeySet::read(std::string_view text) {
  const Result<ParsedJson> parsed =
      parse_json(text, {.bytes = kMostBytes, .depth = kDeepestKeySet});
  const json::value* const keys = parsed && parsed->value.is_object()
                                      ? parsed->value.get_object().if_contains("keys")
                                      : nullptr;
  if (keys == nullptr || !keys->is_array() || keys->get_array().size() > kMostKeys) {
    return fail(ErrorCode::Corrupt, "this is not a key set: a JSON object with at most 100 `keys`");
  }
  KeySet out;
  for (const json::value& key : keys->get_array()) {
    if (!key.is_object()) continue;
    if (auto usable = VerifyKey::read(key.get_object())) out.keys_.push_back(std::move(*usable));
  }
  return out;
}

const VerifyKey* KeySet::find(Algorithm algorithm, const std::optional<std::string>& id) const {
  const VerifyKey* found = nullptr;
  for (const VerifyKey& key : keys_) {
    if (!key.fits(algorithm) || (id && key.id() != id)) continue;
    if (id) return &key;
    if (found != nullptr) return nullptr;
    found = &key;
  }
  return found;
}

}  // namespace sallyport::oauth
