#include "base/running_digest.h"

#include <openssl/evp.h>

#include "base/try.h"

namespace sallyport {

struct RunningDigest::Context {
  EVP_MD_CTX* md = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(md); }
};

RunningDigest::RunningDigest() : context_(std::make_unique<Context>()) {
  SALLYPORT_INVARIANT(EVP_DigestInit_ex2(context_->md, EVP_sha256(), nullptr) == 1);
}
RunningDigest::RunningDigest(RunningDigest&&) noexcept = default;
RunningDigest& RunningDigest::operator=(RunningDigest&&) noexcept = default;
RunningDigest::~RunningDigest() = default;

void RunningDigest::add(std::string_view piece) {
  SALLYPORT_INVARIANT(EVP_DigestUpdate(context_->md, piece.data(), piece.size()) == 1);
}

Hash RunningDigest::finish() {
  Hash hash;
  SALLYPORT_INVARIANT(EVP_DigestFinal_ex(context_->md, hash.data(), nullptr) == 1);
  return hash;
}

}  // namespace sallyport
