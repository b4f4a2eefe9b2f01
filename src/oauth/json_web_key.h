// Public keys of an authorization server (JSON Web Key Sets, RFC 7517): only those that verify
// signatures of tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oauth/openssl_owner.h"
#include "sallyport/json.h"

namespace sallyport::oauth {

// The accepted signature algorithms of tokens. None is symmetric, because its key could also sign.
enum class Algorithm { RS256, PS256, ES256, EdDSA };

// By its name in `alg`. No value: it is none of these.
std::optional<Algorithm> signature_algorithm(std::string_view name);

class VerifyKey {
 public:
  // RSA of 2048 to 8192 bits, EC of P-256, or Ed25519. No value: it is of another kind, for another
  // use, or malformed.
  static std::optional<VerifyKey> read(const json::object& jwk);

  const std::optional<std::string>& id() const { return id_; }
  // True if the key is for this algorithm. A statement of the token cannot change that.
  bool fits(Algorithm algorithm) const;
  bool verifies(Algorithm algorithm, std::string_view text, std::string_view signature) const;

 private:
  VerifyKey(OwnedKey key, std::vector<Algorithm> algorithms, std::optional<std::string> id);

  OwnedKey key_;
  std::vector<Algorithm> algorithms_;
  std::optional<std::string> id_;
};

class KeySet {
 public:
  // Skips unsupported keys. `Corrupt`: it is no key set.
  static Result<KeySet> read(std::string_view text);

  // The key with this id, or without an id the only key that fits. Null: there is none.
  const VerifyKey* find(Algorithm algorithm, const std::optional<std::string>& id) const;

  std::size_t size() const { return keys_.size(); }

 private:
  std::vector<VerifyKey> keys_;
};

}  // namespace sallyport::oauth
