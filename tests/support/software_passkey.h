// A software authenticator for tests: it makes credentials and signs with them as real ones do, and
// falsifies any one item if a test requests it.
#pragma once

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "base/base64url.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "trust/webauthn.h"

namespace sallyport::trust {

// An empty item has its true value.
struct PasskeyLies {
  std::string type{};
  std::string challenge{};
  std::string origin{};
  std::string rp_id{};
  std::string more{};  // members of the client data
  bool absent = false;
  bool unverified = false;
  bool broken = false;  // the signature
};

class SoftwarePasskey {
 public:
  explicit SoftwarePasskey(std::string alg = "ES256", std::string id = "credential-1")
      : alg_(std::move(alg)),
        id_(std::move(id)),
        key_(alg_ == "ES256" ? EVP_EC_gen("P-256") : EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"),
             EVP_PKEY_free) {}

  using Lies = PasskeyLies;

  const std::string& id() const { return id_; }

  std::string spki() const {
    unsigned char* der = nullptr;
    const int size = i2d_PUBKEY(key_.get(), &der);
    std::string bytes(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
    OPENSSL_free(der);
    return bytes;
  }

  static std::string client_data(const Ceremony& asked, std::string_view type, const Lies& lies) {
    const auto or_else = [](const std::string& lie, std::string truth) {
      return lie.empty() ? truth : lie;
    };
    return R"({"type":")" + or_else(lies.type, std::string(type)) + R"(","challenge":")" +
           base64url(or_else(lies.challenge, asked.challenge)) + R"(","origin":")" +
           or_else(lies.origin, asked.origin) + R"(","crossOrigin":false)" + lies.more + "}";
  }

  // The output of `create` beside the client data.
  std::string created(const Ceremony& asked, const Lies& lies = {}) const {
    std::string data = head(asked, lies, 0x40);
    data += std::string(16, '\0');
    data += static_cast<char>(id_.size() >> 8);
    data += static_cast<char>(id_.size() & 0xff);
    return data + id_ + cose();
  }

  Assertion signs(const Ceremony& asked, const Lies& lies = {}) const {
    Assertion made{.credential_id = id_,
                   .authenticator_data = head(asked, lies, 0),
                   .client_data = client_data(asked, "webauthn.get", lies)};
    const std::string message =
        made.authenticator_data + std::string(text_of(sha256(made.client_data)));
    made.signature = sign(message);
    if (lies.broken) made.signature.back() = static_cast<char>(made.signature.back() ^ 1);
    return made;
  }

 private:
  static std::string head(const Ceremony& asked, const Lies& lies, unsigned flags) {
    std::string data(text_of(sha256(lies.rp_id.empty() ? asked.rp_id : lies.rp_id)));
    flags |= (lies.absent ? 0u : 0x01u) | (lies.unverified ? 0u : 0x04u);
    data += static_cast<char>(flags);
    return data + std::string("\0\0\0\7", 4);
  }

  std::string cose() const {
    using namespace std::string_literals;
    const std::string der = spki();
    if (alg_ != "ES256") {
      return "\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20"s + der.substr(der.size() - 32);
    }
    return "\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"s + der.substr(der.size() - 64, 32) +
           "\x22\x58\x20" + der.substr(der.size() - 32);
  }

  std::string sign(std::string_view message) const {
    EVP_MD_CTX* const context = EVP_MD_CTX_new();
    const EVP_MD* const digest = alg_ == "ES256" ? EVP_sha256() : nullptr;
    EVP_DigestSignInit(context, nullptr, digest, nullptr, key_.get());
    std::size_t size = 256;
    std::string signature(size, '\0');
    EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size,
                   as_bytes(message).data(), message.size());
    EVP_MD_CTX_free(context);
    signature.resize(size);
    return signature;
  }

  std::string alg_;
  std::string id_;
  std::shared_ptr<EVP_PKEY> key_;  // shared by copies, which sign with the same key
};

}  // namespace sallyport::trust
