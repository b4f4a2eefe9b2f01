#include "base/running_digest.h"

#include <openssl/sha.h>

#include "base/try.h"

// OpenSSL 3 deprecates these functions in favour of EVP_Digest*. Those cost two to three times as
// much for short texts and keep their state on the heap. Both run the same code.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace sallyport {

namespace {

SHA256_CTX* context(std::byte* state) {
  return reinterpret_cast<SHA256_CTX*>(state);
}

}  // namespace

RunningDigest::RunningDigest() {
  static_assert(sizeof(SHA256_CTX) == kState && alignof(SHA256_CTX) <= alignof(std::size_t));
  SALLYPORT_INVARIANT(SHA256_Init(context(state_.data())) == 1);
}

void RunningDigest::add(std::string_view piece) {
  SALLYPORT_INVARIANT(SHA256_Update(context(state_.data()), piece.data(), piece.size()) == 1);
}

Hash RunningDigest::finish() {
  Hash hash;
  SALLYPORT_INVARIANT(SHA256_Final(hash.data(), context(state_.data())) == 1);
  return hash;
}

}  // namespace sallyport

#pragma GCC diagnostic pop
