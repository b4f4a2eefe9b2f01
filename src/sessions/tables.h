// The tables of a session store and their version.
#pragma once

#include "store/sqlite/connection.h"

namespace sallyport::sessions {

inline constexpr int kSchemaVersion = 1;

// 0: an empty file. `Corrupt`: a database of another program, or one whose tables are not ours.
// `Unavailable`, cause `newer_schema`: a newer release wrote it.
Result<int> check_tables(store::Connection& connection);

// Runs in a transaction of the caller.
Result<void> make_tables(store::Connection& connection);

}  // namespace sallyport::sessions
