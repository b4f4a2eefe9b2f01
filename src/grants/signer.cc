#include "grants/signer.h"

#include <sodium.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/encoding.h"

namespace sallyport::grants {

namespace {

constexpr std::string_view kKeyPrefix = "ed25519:";
constexpr std::string_view kSeedPrefix = "ed25519-seed:";
constexpr std::string_view kPemBegin = "-----BEGIN PRIVATE KEY-----";
constexpr std::string_view kPemEnd = "-----END PRIVATE KEY-----";
// PKCS#8 of an Ed25519 key (RFC 8410) is this, and the seed.
constexpr std::string_view kPkcs8 = "302e020100300506032b657004220420";

std::string_view without_line_ends(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::optional<std::string> seed_in_pem(std::string_view text) {
  const std::size_t end = text.find(kPemEnd);
  if (end == std::string_view::npos) return std::nullopt;
  std::string body(text.substr(kPemBegin.size(), end - kPemBegin.size()));
  std::erase_if(body, [](char c) { return c == '\n' || c == '\r'; });
  std::optional<std::string> der = from_base64(body);
  const std::string start = *from_hex(kPkcs8);
  if (!der || der->size() != start.size() + 32 || !der->starts_with(start)) return std::nullopt;
  return der->substr(start.size());
}

std::optional<std::string> seed_in(std::string_view file_text) {
  if (file_text.starts_with(kPemBegin)) return seed_in_pem(file_text);
  if (file_text.size() == 32) return std::string(file_text);
  std::string_view text = without_line_ends(file_text);
  if (text.starts_with(kSeedPrefix)) text.remove_prefix(kSeedPrefix.size());
  std::optional<std::string> seed = from_hex(text);
  if (seed && seed->size() != 32) return std::nullopt;
  return seed;
}

}  // namespace

Signer Signer::from_seed(const Seed& seed) {
  Signer signer;
  signer.seed_ = seed;
  std::array<std::uint8_t, 32> public_key;
  crypto_sign_seed_keypair(public_key.data(), signer.expanded_.data(), seed.data());
  signer.key_ = std::string(kKeyPrefix) + hex(public_key);
  return signer;
}

Signer Signer::generate(Entropy& entropy) {
  Seed seed;
  entropy.fill(seed);
  Signer signer = from_seed(seed);
  sodium_memzero(seed.data(), seed.size());
  return signer;
}

Result<Signer> Signer::parse(std::string_view file_text) {
  std::optional<std::string> text = seed_in(file_text);
  if (!text) {
    return fail(ErrorCode::InvalidInput,
                "this is not an Ed25519 private key: 64 hex digits of its seed, or PEM");
  }
  Seed seed;
  std::ranges::copy(as_bytes(*text), seed.begin());
  Signer signer = from_seed(seed);
  sodium_memzero(seed.data(), seed.size());
  sodium_memzero(text->data(), text->size());
  return signer;
}

Signer::~Signer() {
  sodium_memzero(seed_.data(), seed_.size());
  sodium_memzero(expanded_.data(), expanded_.size());
}

std::string Signer::file_text() const {
  return std::string(kSeedPrefix) + hex(seed_) + "\n";
}

std::string Signer::sign(std::string_view message) const {
  std::array<std::uint8_t, 64> signature;
  const Bytes bytes = as_bytes(message);
  crypto_sign_detached(signature.data(), nullptr, bytes.data(), bytes.size(), expanded_.data());
  return std::string(as_text(signature));
}

bool is_signing_key(std::string_view text) {
  if (!is_key(text)) return false;
  const std::optional<std::string> key = from_hex(text.substr(kKeyPrefix.size()));
  return key && crypto_core_ed25519_is_valid_point(as_bytes(*key).data()) == 1;
}

bool signed_by_issuer(const Token& token) {
  const std::optional<std::string> key =
      from_hex(std::string_view(token.issuer).substr(kKeyPrefix.size()));
  if (!key || key->size() != 32 || token.signature.size() != 64) return false;
  const Bytes message = as_bytes(token.signed_bytes);
  return crypto_sign_verify_detached(as_bytes(token.signature).data(), message.data(),
                                     message.size(), as_bytes(*key).data()) == 0;
}

}  // namespace sallyport::grants
