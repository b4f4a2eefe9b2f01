// Working memory of the pattern library. One scan uses it at a time, so each thread has its own.
#pragma once

#include <cstdint>

struct hs_database;
struct hs_scratch;

namespace sallyport::guards {

// Returns an id that is never reused in this process; an address may be.
std::uint64_t next_database_id();

// Memory of the calling thread, large enough for this database. Throws `std::bad_alloc`.
hs_scratch* scratch_for(const hs_database* database, std::uint64_t id);

}  // namespace sallyport::guards
