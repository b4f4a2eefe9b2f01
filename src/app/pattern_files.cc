#include "app/pattern_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "ledger/private_file.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestFile = 64u << 20;

}  // namespace

std::filesystem::path PatternFiles::file_of(const std::string& digest) const {
  return folder_ / (digest + ".patterns");
}

std::optional<std::string> PatternFiles::load(const std::string& digest) const {
  Result<std::optional<std::string>> bytes =
      ledger::read_private_file(file_of(digest), kLargestFile);
  // What others could have written is not taken.
  return bytes ? std::move(*bytes) : std::nullopt;
}

void PatternFiles::keep(const std::string& digest, std::string_view bytes) const {
  if (!ledger::make_private_folder(folder_)) return;
  // Nothing is synced: a copy that a crash damaged is noticed, and compiled again.
  std::string fresh = file_of(digest).string() + ".XXXXXX";
  const int descriptor = ::mkostemp(fresh.data(), O_CLOEXEC);
  if (descriptor < 0) return;
  const bool whole =
      ::write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  ::close(descriptor);
  if (!whole || ::rename(fresh.c_str(), file_of(digest).c_str()) != 0) ::unlink(fresh.c_str());
}

}  // namespace sallyport::app
