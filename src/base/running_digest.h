// SHA-256 of a text that comes in pieces. A value: a copy goes on from the same place.
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
  Hash finish();  // of all pieces one after the other; nothing is added afterwards

 private:
  static constexpr std::size_t kState = 112;  // OpenSSL's SHA256_CTX
  alignas(std::size_t) std::array<std::byte, kState> state_;
};

}  // namespace sallyport
