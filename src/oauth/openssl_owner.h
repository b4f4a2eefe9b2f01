// Owners of what OpenSSL hands out.
#pragma once

#include <openssl/evp.h>

#include <memory>

namespace sallyport::oauth {

template <auto Release>
struct Free {
  template <class T>
  void operator()(T* object) const {
    Release(object);
  }
};

template <class T, auto Release>
using Owned = std::unique_ptr<T, Free<Release>>;
using OwnedKey = Owned<EVP_PKEY, EVP_PKEY_free>;
using OwnedDigest = Owned<EVP_MD_CTX, EVP_MD_CTX_free>;

}  // namespace sallyport::oauth
