// The tables, their version, and how older files become newer ones.
#pragma once

#include "store/sqlite/connection.h"

namespace sallyport::store {

// 2: rows of entries and blocks have seals.
inline constexpr int kSchemaVersion = 2;
inline constexpr int kSchemaWithoutSeals = 1;

// 0 for an empty file. `Corrupt` for a database that is not a ledger.
Result<int> schema_version(Connection& connection);

// `corrupt` names what this release would not have made: a table that was changed, or a table,
// index, view or trigger of another program. For a file that calls itself newer: `corrupt` if every
// table is as this release makes it, so that only the number was changed.
Result<void> check_nothing_else(Connection& connection, int version);

// Changes with every change of tables, triggers and views.
Result<std::int64_t> schema_cookie(Connection& connection);

// Creates or migrates inside one transaction; no entry's bytes change.
Result<void> bring_up_to_date(Connection& connection);

}  // namespace sallyport::store
