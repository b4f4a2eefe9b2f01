// Working memory of the pattern library. It serves one scan at a time, so each thread has its own.
#pragma once

#include <cstdint>

struct hs_database;
struct hs_scratch;

namespace sallyport::guards {

// Names a database for as long as the process lives; an address may be used again, this is not.
std::uint64_t next_database_id();

// Memory of the calling thread, large enough for this database. Throws `std::bad_alloc`.
hs_scratch* scratch_for(const hs_database* database, std::uint64_t id);

}  // namespace sallyport::guards
