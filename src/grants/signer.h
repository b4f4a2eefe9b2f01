// The private key of an issuer of tokens: the authority of a data folder, or a delegating holder.
// Wiped on destruction and never printed.
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
  // Reads the seed as 64 hex digits with or without the prefix `ed25519-seed:`, as 32 raw bytes, or
  // as the PEM that `openssl genpkey -algorithm ed25519` writes.
  static Result<Signer> parse(std::string_view file_text);

  Signer(const Signer&) = default;
  Signer& operator=(const Signer&) = default;
  ~Signer();

  const std::string& key() const { return key_; }  // as written in tokens
  std::string file_text() const;
  std::string sign(std::string_view message) const;  // 64 bytes

 private:
  Signer() = default;
  Seed seed_{};
  std::array<std::uint8_t, 64> expanded_{};
  std::string key_;
};

// True for a key, as written in tokens, whose signatures can verify: a point of the curve, not of
// small order.
bool is_signing_key(std::string_view text);

// True if the issuer's key signed the token. Uses libsodium's strict rules: no key of small order,
// and only canonical S (CG-16).
bool signed_by_issuer(const Token& token);

}  // namespace sallyport::grants
