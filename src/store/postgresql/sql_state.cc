#include "store/postgresql/sql_state.h"

#include <algorithm>
#include <utility>

namespace sallyport::store::postgresql {

namespace {

struct Known {
  std::string_view state;  // a whole state, or the two characters of a class
  std::string_view cause;
};

// Whole states before their class. docs/cluster.md has the same table.
constexpr Known kKnown[] = {
    {"53100", "no_space"},   // the disk of the database is full
    {"53200", "io"},         // out of memory
    {"53", "busy"},          // too many connections, and other limits
    {"25006", "read_only"},  // a standby, or a database that was set so
    {"25P03", "busy"},       // idle in a transaction for longer than hold_ms
    {"55P03", "busy"},       // the lock was not had in lock_wait_ms
    {"57014", "busy"},       // cancelled
    {"57P03", "busy"},       // starting or stopping
    {"40", "busy"},          // deadlock, serialisation
    {"42501", "not_owner"},  // no right to do this
    {"28", "not_owner"},     // no such role, or a wrong password
    {"3D000", "not_owner"},  // no such database
    {"42P01", "corrupt"},    // a table is missing
    {"42703", "corrupt"},    // a column is missing
    {"3F000", "corrupt"},    // the schema is missing
    {"23", "corrupt"},       // two rows in one place: a lock that does not lock
    {"XX001", "corrupt"},    // damaged data
    {"XX002", "corrupt"},    // a damaged index
};

}  // namespace

std::string_view cause_of(std::string_view sql_state) {
  const auto* const known = std::ranges::find_if(
      kKnown, [&](const Known& each) { return sql_state.starts_with(each.state); });
  return known == std::end(kKnown) ? "io" : known->cause;
}

}  // namespace sallyport::store::postgresql
