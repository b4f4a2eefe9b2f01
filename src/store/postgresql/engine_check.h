// Checks by settings and by trials that this server can keep a log (SC-7, SC-8).
#pragma once

#include "store/postgresql/link.h"

namespace sallyport::store::postgresql {

// `second` is another connection of the same kind. The error names what is wrong.
Result<void> check_engine(Link& first, Link& second, int replicas);

// Identifies this database, also against a copy of its rows in another one. Standbys have the same
// identifier. Empty: this role may not read it.
Result<std::string> system_identifier(Link& link);

// How many standbys a commit waits for, by the server's own setting: `ANY 2 (a, b, c)` is 2.
int standbys_waited_for(std::string_view synchronous_standby_names);

}  // namespace sallyport::store::postgresql
