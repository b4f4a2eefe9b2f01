// The key with which a person answers and controls: an Ed25519 seed, sealed with a passphrase
// (Argon2id, XSalsa20-Poly1305) in a file of mode 0600. Running as the same user is not enough to
// use it (AP-28).
//
//   SALLYPORT_TRY(std::string words, read_passphrase(file, "passphrase of user:ada: "));
//   SALLYPORT_TRY(const ApproverKey key, ApproverKey::open(path, words));
//   key.sign(canonical_json(statement));      // "ed25519:..."
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/entropy.h"
#include "trust/control.h"

namespace sallyport::app {

class ApproverKey {
 public:
  // Writes a new key. `Conflict`: there is one already. `InvalidInput`: the passphrase is short.
  static Result<ApproverKey> create(const std::filesystem::path& file, std::string name,
                                    std::string_view passphrase, Entropy& entropy);
  // `NotFound`: there is no such file. `Unauthenticated`: the passphrase is wrong, or the file was
  // changed.
  static Result<ApproverKey> open(const std::filesystem::path& file, std::string_view passphrase);

  ApproverKey(ApproverKey&&) = default;
  ApproverKey& operator=(ApproverKey&&) = delete;
  ~ApproverKey();

  const std::string& name() const { return name_; }
  const trust::PublicKey& key() const { return key_; }
  const std::array<std::uint8_t, 64>& secret() const { return secret_; }
  std::string sign(std::string_view message) const;

 private:
  ApproverKey(std::string name, const std::array<std::uint8_t, 32>& seed);

  std::string name_;
  trust::PublicKey key_{};
  std::array<std::uint8_t, 64> secret_{};
};

// The name of the person whose key a file holds, without opening the key.
Result<std::string> approver_name(const std::filesystem::path& file);

// `<data-dir>/approvers/<name>.key`, with every character that is no letter or digit as `-`.
std::filesystem::path approver_key_file(const std::filesystem::path& data_dir,
                                        std::string_view name);

// The file that was named, else the only key of the folder. `NotFound`: there is none;
// `InvalidInput`: there are several.
Result<std::filesystem::path> find_approver_key(const std::filesystem::path& data_dir,
                                                const std::optional<std::filesystem::path>& named);

// The first line of a file that only its owner may read, else typed at the terminal without echo.
// Never from an argument or a variable, which others can see.
Result<std::string> read_passphrase(const std::optional<std::filesystem::path>& file,
                                    std::string_view prompt);
// Reads it from a descriptor that the parent process has opened.
Result<std::string> read_passphrase(int descriptor);

}  // namespace sallyport::app
