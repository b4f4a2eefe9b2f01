// An authorization server in a few lines: keys, their public halves, and tokens signed with them.
#pragma once

#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <boost/json.hpp>
#include <string>

#include "base/digest.h"
#include "oauth/base64url.h"
#include "oauth/openssl_owner.h"
#include "sallyport/json.h"

namespace sallyport::oauth {

// One pair of keys, which is generated for it.
class TokenMaker {
 public:
  // `kind`: RSA, P-256, ED25519, or another that OpenSSL knows.
  explicit TokenMaker(const std::string& kind, std::string id = "k1", unsigned bits = 2048)
      : kind_(kind), id_(std::move(id)) {
    if (kind == "RSA") {
      key_.reset(EVP_RSA_gen(bits));
    } else if (kind.starts_with("P-")) {
      key_.reset(EVP_EC_gen(kind.c_str()));
    } else {
      key_.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, kind.c_str()));
    }
  }

  json::object jwk() const {
    if (kind_ == "RSA") {
      return {{"kty", "RSA"}, {"kid", id_}, {"n", number("n")}, {"e", number("e")}};
    }
    if (kind_.starts_with("P-")) {
      return {
          {"kty", "EC"}, {"crv", kind_}, {"kid", id_}, {"x", number("qx")}, {"y", number("qy")}};
    }
    std::string raw(57, '\0');
    std::size_t size = raw.size();
    EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(raw.data()), &size);
    raw.resize(size);
    return {{"kty", "OKP"},
            {"crv", kind_ == "ED25519" ? "Ed25519" : "Ed448"},
            {"kid", id_},
            {"x", base64url(raw)}};
  }

  std::string token(const json::object& claims, json::object head) const {
    const std::string text =
        base64url(json::serialize(head)) + '.' + base64url(json::serialize(claims));
    return text + '.' +
           base64url(signature(text, head.contains("alg") && head.at("alg") == "PS256"));
  }
  std::string token(const json::object& claims, const std::string& algorithm) const {
    return token(claims, json::object{{"alg", algorithm}, {"typ", "at+jwt"}, {"kid", id_}});
  }

 private:
  std::string number(const char* name) const {
    BIGNUM* number = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &number);
    const Owned<BIGNUM, BN_free> owned(number);
    // Coordinates keep their leading zeros.
    const int least = kind_ == "P-256" ? 32 : kind_ == "P-384" ? 48 : BN_num_bytes(number);
    std::string out(static_cast<std::size_t>(least), '\0');
    BN_bn2binpad(number, reinterpret_cast<unsigned char*>(out.data()), least);
    return base64url(out);
  }

  std::string signature(const std::string& text, bool pss) const {
    const OwnedDigest context(EVP_MD_CTX_new());
    EVP_PKEY_CTX* parameters = nullptr;
    const bool edwards = kind_ == "ED25519";
    EVP_DigestSignInit(context.get(), &parameters, edwards ? nullptr : EVP_sha256(), nullptr,
                       key_.get());
    if (pss && kind_ == "RSA") {
      EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING);
      EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST);
    }
    std::size_t size = static_cast<std::size_t>(EVP_PKEY_get_size(key_.get()));
    std::string out(size, '\0');
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size,
                   reinterpret_cast<const unsigned char*>(text.data()), text.size());
    out.resize(size);
    return kind_.starts_with("P-") ? flat(out) : out;
  }

  static std::string flat(const std::string& der) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
    const Owned<ECDSA_SIG, ECDSA_SIG_free> pair(
        d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size())));
    std::string out(64, '\0');
    auto* const to = reinterpret_cast<unsigned char*>(out.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), to, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), to + 32, 32);
    return out;
  }

  std::string kind_;
  std::string id_;
  OwnedKey key_;
};

inline std::string key_set(std::initializer_list<json::object> keys) {
  json::array all;
  for (const json::object& key : keys) all.emplace_back(key);
  return json::serialize(json::object{{"keys", all}});
}

}  // namespace sallyport::oauth
