#include "app/pattern_files.h"

#include "ledger/private_file.h"

namespace sallyport::app {

std::filesystem::path PatternFiles::file_of(const std::string& digest) const {
  return folder_ / (digest + ".patterns");
}

std::optional<std::string> PatternFiles::load(const std::string& digest) const {
  Result<std::optional<std::string>> bytes = ledger::read_private_file(file_of(digest));
  // What others could have written is not taken.
  return bytes ? std::move(*bytes) : std::nullopt;
}

void PatternFiles::keep(const std::string& digest, std::string_view bytes) const {
  if (!ledger::make_private_folder(folder_)) return;
  (void)ledger::replace_private_file(file_of(digest), bytes);
}

}  // namespace sallyport::app
