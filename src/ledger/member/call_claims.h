// Claims on calls between processes that share a ledger. A claim is a lock on one byte of a file,
// chosen by the call's key. Nothing is written, and the kernel releases the lock when the process
// ends, however it ends.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::ledger {

// May be used from any thread. Not exclusive inside one process.
class CallClaims {
 public:
  static Result<CallClaims> open(const std::filesystem::path& data_folder);

  // Null: another process has it.
  Result<std::shared_ptr<void>> claim(std::string_view key) const;

 private:
  explicit CallClaims(std::shared_ptr<const int> fd) : fd_(std::move(fd)) {}
  std::shared_ptr<const int> fd_;  // shared with the claims, which may outlive the ledger
};

}  // namespace sallyport::ledger
