// Compiled patterns as files of the data folder, which is private to its owner.
//
// A file counts only with a code that a secret of this folder made over its name and its bytes. A
// damaged, renamed or foreign file counts as missing and is made again.
#pragma once

#include <filesystem>

#include "base/entropy.h"
#include "guardrails/check/pattern_store.h"

namespace sallyport::app {

class PatternFiles final : public guardrails::PatternStore {
 public:
  // The first `keep` creates the folder. Only the newest files stay, at most this many.
  static constexpr std::size_t kMostFiles = 64;

  PatternFiles(std::filesystem::path folder, Entropy& entropy)
      : folder_(std::move(folder)), entropy_(entropy) {}
  std::optional<std::string> load(const std::string& digest) const override;
  void keep(const std::string& digest, std::string_view bytes) const override;

 private:
  std::filesystem::path file_of(const std::string& digest) const;
  std::optional<std::string> secret() const;
  std::optional<std::string> make_secret() const;
  void forget_oldest() const;

  std::filesystem::path folder_;
  Entropy& entropy_;
};

}  // namespace sallyport::app
