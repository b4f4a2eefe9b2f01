// Classifies errors of PostgreSQL by what a person can do about them.
#pragma once

#include <string_view>

namespace sallyport::store::postgresql {

// A cause of LE-73 for every SQLSTATE; `io` for one that is not known.
std::string_view cause_of(std::string_view sql_state);

}  // namespace sallyport::store::postgresql
