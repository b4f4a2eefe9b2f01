// The tables of shared logs, their version, and who may do what with them.
#pragma once

#include <string>

#include "store/postgresql/link.h"

namespace sallyport::store::postgresql {

inline constexpr int kSchemaVersion = 1;

// 0: the database has none yet. `Corrupt`: the version is missing.
Result<int> schema_version(Link& link);

// Creates the tables. Concurrent gateways create them once.
Result<void> make_tables(Link& link);

// The number of the log, which is also its lock. `makes`: a missing log is created.
Result<std::uint64_t> number_of_log(Link& link, const std::string& name, bool makes);

}  // namespace sallyport::store::postgresql
