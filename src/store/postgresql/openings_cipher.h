// Encrypts the content of sealed fields in a database: its administrator sees hashes and names, and
// no content (SC-25). The key comes from the secret of the keys folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/keyed_digest.h"

namespace sallyport::store::postgresql {

class OpeningsCipher {
 public:
  // Null: nothing is encrypted, and encrypted content cannot be read.
  explicit OpeningsCipher(const KeyedDigest* secret);

  // The same text at the same place gives the same bytes.
  std::string close(std::uint64_t sequence, std::string_view openings) const;
  // No value: the content was changed, has another secret, or no secret is known.
  std::optional<std::string> open(std::string_view stored) const;

 private:
  const KeyedDigest* secret_;
  std::string key_;
};

}  // namespace sallyport::store::postgresql
