#include "support/store_kinds.h"

#include "store/postgresql/postgresql_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/private_postgresql.h"

namespace sallyport::test {

std::string name_of(StoreKind kind) {
  return kind == StoreKind::File ? "File" : kind == StoreKind::Memory ? "Memory" : "PostgreSql";
}

bool can_open(StoreKind kind) {
  return kind != StoreKind::PostgreSql || PrivatePostgresql::instance() != nullptr;
}

StorePlace::StorePlace(StoreKind of, std::filesystem::path folder)
    : kind(of), folder_(std::move(folder)) {
  if (kind != StoreKind::PostgreSql || !can_open(kind)) return;
  shared.url = PrivatePostgresql::instance()->new_database();
}

Result<std::unique_ptr<ledger::LedgerStore>> StorePlace::open() {
  const auto as_store = [](auto opened) -> Result<std::unique_ptr<ledger::LedgerStore>> {
    if (!opened) return std::unexpected(opened.error());
    return std::unique_ptr<ledger::LedgerStore>(std::move(*opened));
  };
  if (kind == StoreKind::Memory) return as_store(store::SqliteStore::in_memory());
  if (kind == StoreKind::File) {
    return as_store(store::SqliteStore::open({.file = folder_ / "ledger.db"}));
  }
  return as_store(store::PostgresqlStore::open({.log = shared}));
}

}  // namespace sallyport::test
