// Digests that only the holder of the data folder's secret key can test guesses against.
#pragma once

#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/encoding.h"

namespace sallyport {

class KeyedDigest {
 public:
  explicit KeyedDigest(std::string key) : key_(std::move(key)) {}

  // `hmac-sha256:<hex>`
  std::string operator()(std::string_view text) const { return "hmac-sha256:" + hex(bytes(text)); }

  Hash bytes(std::string_view text) const { return hmac_sha256(key_, text); }

 private:
  std::string key_;
};

}  // namespace sallyport
