// Accounts of this machine, by name and by number.
#pragma once

#include <string>

#include "net/spawn.h"
#include "sallyport/result.h"

namespace sallyport::app {

// `dana`, or the number where the account has no name.
std::string name_of_user(unsigned uid);

// The account with its groups, to run a program under. `NotFound`: there is no such account.
Result<net::RunAs> account_named(const std::string& name);

}  // namespace sallyport::app
