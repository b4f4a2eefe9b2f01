// The tables of shared logs, their version, and who may do what with them.
#pragma once

#include <string>

#include "store/postgresql/link.h"

namespace sallyport::store::postgresql {

inline constexpr int kSchemaVersion = 1;

// 0: the database has none yet. `Corrupt` where a table of ours is missing.
Result<int> schema_version(Link& link);

// Gateways that come at the same time make them once.
Result<void> make_tables(Link& link);

// The number of the log, made where there is none. The number is its lock, too.
Result<std::uint64_t> number_of_log(Link& link, const std::string& name, bool makes);

}  // namespace sallyport::store::postgresql
