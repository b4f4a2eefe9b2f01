// The tables of shared logs as statements, for the owner of a database.
#pragma once

#include <string>

namespace sallyport::store {

// `gateway` appends, `keeper` also erases and prunes; neither owns a table (SC-10). An empty keeper
// is none.
std::string tables_sql(const std::string& gateway, const std::string& keeper);

}  // namespace sallyport::store
