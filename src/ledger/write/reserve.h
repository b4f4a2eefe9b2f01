// Disk space reserved for the outcomes of calls that run when the disk fills up.
#pragma once

#include <cstdint>
#include <filesystem>

#include "sallyport/result.h"

namespace sallyport::ledger {

class Reserve {
 public:
  Reserve(std::filesystem::path file, std::uint64_t bytes)
      : file_(std::move(file)), bytes_(bytes) {}

  Result<void> keep();  // allocates; does nothing when it is there
  void give_up();
  bool kept() const { return kept_ || bytes_ == 0; }

 private:
  std::filesystem::path file_;
  std::uint64_t bytes_;
  bool kept_ = false;
};

}  // namespace sallyport::ledger
