// The error of a ledger that cannot be used (LE-73). Its text has a code, a cause and what is
// wrong: `ledger_unavailable: busy: database is locked`.
#pragma once

#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::core {

// `cause` is one of no_space, read_only, busy, io, not_owner, corrupt. A log that several machines
// share adds fenced, in_doubt and clock.
std::unexpected<Error> ledger_error(std::string_view cause, std::string_view detail);

// True for such an error, and for one whose text quotes it.
bool is_ledger_error(const Error& error);

// What is wrong, without the code and the cause. The message of any other error is unchanged.
std::string ledger_error_detail(const Error& error);

}  // namespace sallyport::core
