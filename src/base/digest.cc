#include "base/digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
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

// RFC 2104 over the digest above: OpenSSL's own HMAC looks its algorithm up anew for each text,
// which costs several times the hashing of what we put into it.
Hash hmac_sha256(std::string_view key, std::string_view text) {
  constexpr std::size_t kBlock = 64;
  std::array<char, kBlock> inner{};
  if (key.size() > kBlock) {
    const Hash hashed = sha256(key);
    std::ranges::copy(hashed, inner.begin());
  } else {
    std::ranges::copy(key, inner.begin());
  }
  std::array<char, kBlock> outer = inner;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  const Hash first = sha256({std::string_view(inner.data(), kBlock), text});
  const std::string_view bytes(reinterpret_cast<const char*>(first.data()), first.size());
  return sha256({std::string_view(outer.data(), kBlock), bytes});
}

}  // namespace sallyport
