// The stores that must behave alike, for tests that run over each of them.
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

// The location of the stores of one test: stores that are opened one after the other see the same
// rows, except stores in memory.
class StorePlace {
 public:
  StorePlace(StoreKind kind, std::filesystem::path folder);
  Result<std::unique_ptr<ledger::LedgerStore>> open();

  StoreKind kind;
  store::SharedLog shared;  // of PostgreSQL

 private:
  std::filesystem::path folder_;
};

// Returns true if Debian's `postgresql` is installed, or if the test does not need it.
bool can_open(StoreKind kind);

}  // namespace sallyport::test
