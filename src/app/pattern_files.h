// Compiled patterns as files of the data folder, which is private to its owner.
#pragma once

#include <filesystem>

#include "guards/pattern_store.h"

namespace sallyport::app {

class PatternFiles final : public guards::PatternStore {
 public:
  explicit PatternFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::optional<std::string> load(const std::string& digest) const override;
  void keep(const std::string& digest, std::string_view bytes) const override;

 private:
  std::filesystem::path file_of(const std::string& digest) const;
  std::filesystem::path folder_;
};

}  // namespace sallyport::app
