// Keyed digests. Only the holder of the data folder's secret key can test guesses against them.
#pragma once

#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/running_digest.h"

namespace sallyport {

// HMAC-SHA-256 (RFC 2104). Both halves of the key are hashed once, not for each text.
class KeyedDigest {
 public:
  explicit KeyedDigest(std::string_view key);

  // `hmac-sha256:<hex>`
  std::string operator()(std::string_view text) const { return "hmac-sha256:" + hex(bytes(text)); }

  Hash bytes(std::string_view text) const;

 private:
  RunningDigest inner_;
  RunningDigest outer_;
};

inline Hash hmac_sha256(std::string_view key, std::string_view text) {
  return KeyedDigest(key).bytes(text);
}

}  // namespace sallyport
