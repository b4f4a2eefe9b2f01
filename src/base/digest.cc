#include "base/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <memory>

#include "base/try.h"

namespace sallyport {

namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// Looking the algorithm up costs more than hashing a short entry, so it is done once.
const EVP_MD* algorithm() {
  static EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return fetched;
}

EVP_MD_CTX* context() {
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> owned(EVP_MD_CTX_new());
  return owned.get();
}

}  // namespace

Hash sha256(std::initializer_list<std::string_view> parts) {
  Hash hash;
  EVP_MD_CTX* const md = context();
  bool ok = EVP_DigestInit_ex2(md, algorithm(), nullptr) == 1;
  for (const std::string_view part : parts) {
    ok = ok && EVP_DigestUpdate(md, part.data(), part.size()) == 1;
  }
  ok = ok && EVP_DigestFinal_ex(md, hash.data(), nullptr) == 1;
  SALLYPORT_INVARIANT(ok);
  return hash;
}

Hash hmac_sha256(std::string_view key, std::string_view text) {
  Hash hash;
  unsigned int length = 0;
  const auto* const data = reinterpret_cast<const unsigned char*>(text.data());
  SALLYPORT_INVARIANT(HMAC(algorithm(), key.data(), static_cast<int>(key.size()), data, text.size(),
                           hash.data(), &length) != nullptr);
  return hash;
}

}  // namespace sallyport
