#include "ledger/secret/key_folder.h"

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/try.h"
#include "ledger/secret/private_file.h"

namespace sallyport::ledger {

namespace {

constexpr const char* kSigning = "signing.key";
constexpr const char* kStaged = "signing.key.next";
constexpr const char* kDigest = "digest.key";
constexpr const char* kBox = "box.key";
constexpr const char* kOrigin = "origin";
constexpr const char* kFolder = "keys";

// The file is our own, so a fault in it is damage, not wrong usage.
std::unexpected<Error> spoiled(const std::filesystem::path& file, std::string_view belongs_there) {
  return fail(
      ErrorCode::Corrupt,
      fmt::format("{} is spoiled: {}; restore it from a copy", file.string(), belongs_there), {},
      "io");
}

Result<std::string> key_in(std::string_view text, const std::filesystem::path& file) {
  const auto key = text.size() == 65 ? from_hex(text.substr(0, 64)) : std::nullopt;
  if (!key) return spoiled(file, "it holds 64 hexadecimal digits and a line end");
  return *key;
}

KeyFolder::FoundKey read_key(const std::filesystem::path& file) {
  SALLYPORT_TRY(const std::optional<std::string> text, read_private_file(file));
  if (!text) return nullptr;
  Result<SigningKey> key = SigningKey::parse(*text);
  if (!key) return spoiled(file, key.error().message);
  return std::make_shared<const SigningKey>(std::move(*key));
}

}  // namespace

Result<KeyFolder> KeyFolder::open(const std::filesystem::path& data_folder) {
  const std::filesystem::path folder = data_folder / kFolder;
  SALLYPORT_CHECK_OK(make_private_folder(folder));
  return KeyFolder(folder);
}

void KeyFolder::remove_leftovers() const {
  remove_leftovers_in(folder_);
}

KeyFolder::FoundKey KeyFolder::signing_key() const {
  return read_key(folder_ / kSigning);
}

KeyFolder::FoundKey KeyFolder::create_signing_key(const std::string& origin,
                                                  Entropy& entropy) const {
  auto fresh = std::make_shared<const SigningKey>(SigningKey::generate(origin, entropy));
  SALLYPORT_TRY(const bool made, create_private_file(folder_ / kSigning, fresh->file_text()));
  if (made) return fresh;
  SALLYPORT_TRY(std::shared_ptr<const SigningKey> other, signing_key());
  if (!other) return fail(ErrorCode::Unavailable, "the signing key disappeared while it was made");
  return other;
}

Result<void> KeyFolder::stage(const SigningKey& next) const {
  return replace_private_file(folder_ / kStaged, next.file_text());
}

KeyFolder::FoundKey KeyFolder::staged() const {
  return read_key(folder_ / kStaged);
}

Result<void> KeyFolder::promote_staged() const {
  return supersede_private_file(folder_ / kStaged, folder_ / kSigning);
}

Result<std::string> KeyFolder::digest_key(Entropy& entropy) const {
  return random_key(kDigest, entropy);
}

Result<std::string> KeyFolder::box_key(Entropy& entropy) const {
  return random_key(kBox, entropy);
}

Result<std::string> KeyFolder::random_key(std::string_view name, Entropy& entropy) const {
  const std::filesystem::path file = folder_ / name;
  SALLYPORT_TRY(std::optional<std::string> text, read_private_file(file));
  if (!text) {
    std::array<std::uint8_t, 32> key;
    entropy.fill(key);
    SALLYPORT_TRY([[maybe_unused]] const bool made, create_private_file(file, hex(key) + "\n"));
    SALLYPORT_TRY(text, read_private_file(file));
  }
  return key_in(text.value_or(""), file);
}

Result<std::optional<std::string>> KeyFolder::kept_digest_key(
    const std::filesystem::path& data_folder) {
  const std::filesystem::path file = data_folder / kFolder / kDigest;
  SALLYPORT_TRY(const std::optional<std::string> text, read_private_file(file));
  if (!text) return std::nullopt;
  return key_in(*text, file);
}

Result<bool> KeyFolder::has_signed() const {
  SALLYPORT_TRY(const std::optional<std::string> text, read_private_file(folder_ / kOrigin));
  return text.has_value();
}

Result<void> KeyFolder::mark_signed(const std::string& origin) const {
  SALLYPORT_TRY(const bool marked, has_signed());
  if (marked) return {};
  SALLYPORT_TRY([[maybe_unused]] const bool made,
                create_private_file(folder_ / kOrigin, origin + "\n"));
  return {};
}

}  // namespace sallyport::ledger
