// The stores that must be alike, for tests that run over each of them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "ledger/store.h"
#include "store/shared_log.h"

namespace sallyport::test {

enum class StoreKind { File, Memory, PostgreSql };
std::string name_of(StoreKind kind);

// Where the stores of one test are: those that are opened one after the other see the same rows,
// but for one in memory.
class StorePlace {
 public:
  StorePlace(StoreKind kind, std::filesystem::path folder);
  Result<std::unique_ptr<ledger::LedgerStore>> open();

  StoreKind kind;
  store::SharedLog shared;  // of PostgreSQL

 private:
  std::filesystem::path folder_;
};

// Debian's `postgresql` is there, or no store there is asked for.
bool can_open(StoreKind kind);

}  // namespace sallyport::test
