#include "machine/pattern_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/keyed_digest.h"
#include "ledger/secret/private_file.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestKept = 64u << 20;
constexpr std::size_t kSecretSize = 32;
constexpr const char* kSecretName = "key";
constexpr const char* kSuffix = ".patterns";

// The code covers the name too, so a file under another name is invalid.
std::string code_of(const std::string& secret, const std::string& digest, std::string_view bytes) {
  return std::string(
      text_of(hmac_sha256(secret, digest + ":" + std::string(text_of(sha256(bytes))))));
}

bool write_whole(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::filesystem::path PatternFiles::file_of(const std::string& digest) const {
  return folder_ / (digest + kSuffix);
}

std::optional<std::string> PatternFiles::secret() const {
  Result<std::optional<std::string>> kept = ledger::read_private_file(folder_ / kSecretName);
  if (!kept || !*kept || (*kept)->size() != kSecretSize) return std::nullopt;
  return std::move(*kept);
}

// Returns the secret of another process if that was quicker. A damaged secret is replaced, which
// makes all its files invalid.
std::optional<std::string> PatternFiles::make_secret() const {
  if (auto known = secret()) return known;
  std::array<std::uint8_t, kSecretSize> fresh{};
  entropy_.fill(fresh);
  const std::filesystem::path file = folder_ / kSecretName;
  const Result<std::optional<std::string>> there = ledger::read_private_file(file);
  if (!there || *there) std::filesystem::remove(file);
  if (!ledger::create_private_file(file, as_text(fresh))) return std::nullopt;
  return secret();
}

std::optional<std::string> PatternFiles::load(const std::string& digest) const {
  const std::optional<std::string> secret = this->secret();
  if (!secret) return std::nullopt;
  Result<std::optional<std::string>> kept =
      ledger::read_private_file(file_of(digest), kLargestKept);
  // A file that others could have written is ignored.
  if (!kept || !*kept || (*kept)->size() < kSecretSize) return std::nullopt;
  std::string bytes = std::move(**kept);
  const std::string code = bytes.substr(0, kSecretSize);
  bytes.erase(0, kSecretSize);
  if (code != code_of(*secret, digest, bytes)) return std::nullopt;
  return bytes;
}

void PatternFiles::keep(const std::string& digest, std::string_view bytes) const {
  if (bytes.size() > kLargestKept - kSecretSize || !ledger::make_private_folder(folder_)) return;
  const std::optional<std::string> secret = make_secret();
  if (!secret) return;
  // Not synced: a file that a crash damaged is detected, and compiled again.
  std::string fresh = file_of(digest).string() + ".XXXXXX";
  const int descriptor = ::mkostemp(fresh.data(), O_CLOEXEC);
  if (descriptor < 0) return;
  const bool whole =
      write_whole(descriptor, code_of(*secret, digest, bytes)) && write_whole(descriptor, bytes);
  ::close(descriptor);
  if (!whole || ::rename(fresh.c_str(), file_of(digest).c_str()) != 0) ::unlink(fresh.c_str());
  forget_oldest();
}

void PatternFiles::forget_oldest() const {
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> files;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, code)) {
    // Includes unfinished files of processes that were killed.
    if (entry.path().filename().string().find(kSuffix) == std::string::npos) continue;
    files.emplace_back(entry.last_write_time(code), entry.path());
  }
  if (files.size() <= kMostFiles) return;
  std::ranges::sort(files);
  files.resize(files.size() - kMostFiles);
  for (const auto& [time, file] : files) std::filesystem::remove(file, code);
}

}  // namespace sallyport::app
