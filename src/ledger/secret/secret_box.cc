#include "ledger/secret/secret_box.h"

#include <sodium.h>

#include "base/encoding.h"

namespace sallyport::ledger {

namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace

std::string SecretBox::seal(std::string_view text, Entropy& entropy) const {
  std::string sealed(crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + text.size(), '\0');
  unsigned char* const nonce = bytes_of(sealed);
  entropy.fill({nonce, crypto_secretbox_NONCEBYTES});
  crypto_secretbox_easy(nonce + crypto_secretbox_NONCEBYTES, bytes_of(text), text.size(), nonce,
                        bytes_of(std::string_view(key_)));
  return base64(as_bytes(sealed));
}

Result<std::string> SecretBox::open(std::string_view sealed) const {
  constexpr std::size_t kOverhead = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES;
  const std::optional<std::string> bytes = from_base64(sealed);
  if (bytes && bytes->size() >= kOverhead) {
    std::string text(bytes->size() - kOverhead, '\0');
    const unsigned char* const nonce = bytes_of(std::string_view(*bytes));
    if (crypto_secretbox_open_easy(bytes_of(text), nonce + crypto_secretbox_NONCEBYTES,
                                   bytes->size() - crypto_secretbox_NONCEBYTES, nonce,
                                   bytes_of(std::string_view(key_))) == 0) {
      return text;
    }
  }
  return fail(ErrorCode::Corrupt, "the stored data of a waiting call cannot be decrypted", {},
              "corrupt");
}

}  // namespace sallyport::ledger
