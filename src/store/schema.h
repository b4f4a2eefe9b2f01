// The tables, their version, and how older files become newer ones.
#pragma once

#include "store/connection.h"

namespace sallyport::store {

inline constexpr int kSchemaVersion = 1;

// 0 for an empty file. `Corrupt` for a database that is not a ledger.
Result<int> schema_version(Connection& connection);

// `corrupt` names what this release would not have made: a table that was changed, or a table,
// index, view or trigger of somebody else.
Result<void> check_nothing_else(Connection& connection);

// Creates or migrates inside one transaction; no entry's bytes change.
Result<void> bring_up_to_date(Connection& connection);

}  // namespace sallyport::store
