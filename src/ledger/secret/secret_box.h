// Encrypts data that is stored for a while and must not be readable in a file (XSalsa20-Poly1305).
#pragma once

#include <string>
#include <string_view>

#include "base/entropy.h"
#include "sallyport/result.h"

namespace sallyport::ledger {

class SecretBox {
 public:
  explicit SecretBox(std::string key) : key_(std::move(key)) {}

  std::string seal(std::string_view text, Entropy& entropy) const;  // base64
  // `Corrupt`: not sealed with this key, or changed since.
  Result<std::string> open(std::string_view sealed) const;

 private:
  std::string key_;
};

}  // namespace sallyport::ledger
