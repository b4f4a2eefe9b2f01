// SHA-256 of a text that arrives in pieces. A copy continues from the same state.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/digest.h"

namespace sallyport {

class RunningDigest {
 public:
  RunningDigest();

  void add(std::string_view piece);
  Hash finish();  // the digest of all pieces; call it once, last

 private:
  static constexpr std::size_t kState = 112;  // OpenSSL's SHA256_CTX
  alignas(std::size_t) std::array<std::byte, kState> state_;
};

}  // namespace sallyport
