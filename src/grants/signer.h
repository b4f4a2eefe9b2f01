// The private key of an issuer of tokens: the authority of a data folder, or a holder who
// hands on. Wiped when it goes; never printed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/entropy.h"
#include "grants/token.h"

namespace sallyport::grants {

class Signer {
 public:
  using Seed = std::array<std::uint8_t, 32>;

  static Signer from_seed(const Seed& seed);
  static Signer generate(Entropy& entropy);
  // The seed as 64 hex digits, with or without `ed25519-seed:` before it, as 32 raw bytes, or as
  // the PEM that `openssl genpkey -algorithm ed25519` writes.
  static Result<Signer> parse(std::string_view file_text);

  Signer(const Signer&) = default;
  Signer& operator=(const Signer&) = default;
  ~Signer();

  const std::string& key() const { return key_; }  // as tokens write it
  std::string file_text() const;
  std::string sign(std::string_view message) const;  // 64 bytes

 private:
  Signer() = default;
  Seed seed_{};
  std::array<std::uint8_t, 64> expanded_{};
  std::string key_;
};

// Did the key that the token names as its issuer sign it? By libsodium's strict rules: no key of
// small order, no S that is not canonical (CG-16).
bool signed_by_issuer(const Token& token);

}  // namespace sallyport::grants
