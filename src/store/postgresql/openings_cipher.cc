#include "store/postgresql/openings_cipher.h"

#include <fmt/format.h>
#include <sodium.h>

#include "base/digest.h"

namespace sallyport::store::postgresql {

namespace {

// The first byte is the form of the rest.
constexpr char kPlain = '\0';
constexpr char kEncrypted = '\1';
constexpr std::size_t kNonce = crypto_secretbox_NONCEBYTES;
constexpr std::size_t kMac = crypto_secretbox_MACBYTES;

const unsigned char* raw(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

OpeningsCipher::OpeningsCipher(const KeyedDigest* secret) : secret_(secret) {
  static_assert(crypto_secretbox_KEYBYTES == std::tuple_size_v<Hash>);
  if (secret_ != nullptr) key_ = text_of(secret_->bytes("sallyport/openings-key/v1"));
}

// The nonce is a keyed digest of place and text, so two texts never share one. Openings hold salts
// of 32 bytes, so equal bytes reveal nothing either.
std::string OpeningsCipher::close(std::uint64_t sequence, std::string_view openings) const {
  if (secret_ == nullptr) return kPlain + std::string(openings);
  const Hash nonce =
      secret_->bytes(fmt::format("sallyport/openings-nonce/v1\n{}\n{}", sequence, openings));
  std::string stored(1 + kNonce + kMac + openings.size(), kEncrypted);
  stored.replace(1, kNonce, text_of(nonce).substr(0, kNonce));
  crypto_secretbox_easy(reinterpret_cast<unsigned char*>(stored.data()) + 1 + kNonce, raw(openings),
                        openings.size(), raw(stored) + 1, raw(key_));
  return stored;
}

std::optional<std::string> OpeningsCipher::open(std::string_view stored) const {
  if (stored.empty()) return std::nullopt;
  if (stored[0] == kPlain && secret_ == nullptr) return std::string(stored.substr(1));
  constexpr std::size_t kOverhead = 1 + kNonce + kMac;
  if (stored[0] != kEncrypted || secret_ == nullptr || stored.size() < kOverhead) {
    return std::nullopt;
  }
  std::string text(stored.size() - kOverhead, '\0');
  const int wrong = crypto_secretbox_open_easy(reinterpret_cast<unsigned char*>(text.data()),
                                               raw(stored) + 1 + kNonce, stored.size() - 1 - kNonce,
                                               raw(stored) + 1, raw(key_));
  if (wrong != 0) return std::nullopt;
  return text;
}

}  // namespace sallyport::store::postgresql
