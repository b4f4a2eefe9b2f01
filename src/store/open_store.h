// Opens the store of the ledger: a file of this machine, or a log in PostgreSQL that gateways of
// several machines share. Code outside this folder names neither.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "ledger/store.h"
#include "store/shared_log.h"

namespace sallyport::store {

enum class Access { ReadWrite, ReadOnly };

struct Where {
  std::filesystem::path file;
  std::optional<SharedLog> shared{};  // in the place of the file
  Access access = Access::ReadWrite;
  std::chrono::milliseconds lock_wait{5000};
  bool passing = false;  // for a process that makes a few commits and ends
};

Result<std::unique_ptr<ledger::LedgerStore>> open_store(Where where);

}  // namespace sallyport::store
