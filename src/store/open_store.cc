#include "store/open_store.h"

#include "base/try.h"
#include "store/postgresql/postgresql_store.h"
#include "store/sqlite/sqlite_store.h"

namespace sallyport::store {

Result<std::unique_ptr<ledger::LedgerStore>> open_store(Where where) {
  const bool reads = where.access == Access::ReadOnly;
  if (where.shared) {
    SALLYPORT_TRY(std::unique_ptr<ledger::LedgerStore> shared,
                  PostgresqlStore::open({.log = std::move(*where.shared), .read_only = reads}));
    return shared;
  }
  SALLYPORT_TRY(
      std::unique_ptr<ledger::LedgerStore> file,
      SqliteStore::open({.file = std::move(where.file),
                         .mode = reads ? SqliteStore::Mode::ReadOnly : SqliteStore::Mode::ReadWrite,
                         .lock_wait = where.lock_wait,
                         .passing = where.passing}));
  return file;
}

}  // namespace sallyport::store
