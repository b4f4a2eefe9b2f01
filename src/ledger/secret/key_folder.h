// The secrets of a data folder: the key that signs checkpoints, and the ones behind keyed digests
// and encryption.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/entropy.h"
#include "ledger/proof/note.h"

namespace sallyport::ledger {

class KeyFolder {
 public:
  // Creates `<data folder>/keys` with mode 0700 if it does not exist.
  static Result<KeyFolder> open(const std::filesystem::path& data_folder);

  // Removes the files of processes that were killed while they made a key.
  void remove_leftovers() const;

  // Null: there is no such file.
  using FoundKey = Result<std::shared_ptr<const SigningKey>>;
  FoundKey signing_key() const;
  // Returns the key of another process if that process was first. Never null.
  FoundKey create_signing_key(const std::string& origin, Entropy& entropy) const;

  // Rotation: the next key is on disk before the log names it, and replaces the old one afterwards.
  Result<void> stage(const SigningKey& next) const;
  FoundKey staged() const;
  // Inside a write transaction of the ledger, so that one process at a time does this.
  Result<void> promote_staged() const;

  // Made on first use: 32 random bytes each.
  Result<std::string> digest_key(Entropy& entropy) const;
  // For readers: no value if there is none.
  static Result<std::optional<std::string>> kept_digest_key(
      const std::filesystem::path& data_folder);
  Result<std::string> box_key(Entropy& entropy) const;  // encrypts what waiting calls need

  // Written by the first commit: a key that has signed never starts a second, empty log.
  Result<bool> has_signed() const;
  Result<void> mark_signed(const std::string& origin) const;

 private:
  Result<std::string> random_key(std::string_view name, Entropy& entropy) const;
  explicit KeyFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

}  // namespace sallyport::ledger
