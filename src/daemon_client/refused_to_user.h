// On a machine with the system set-up, only the account of the service may use what belongs to it.
#pragma once

#include <string>

#include "machine/system_setup.h"

namespace sallyport::app {

// Root passes this check too: the ledger itself refuses root, because it has an owner.
bool belongs_to_service(const SystemSetup& setup);

// `Unauthenticated` with `advice`. A running service records user, process and command; the message
// says whether it did.
std::unexpected<Error> refused_to_user(const SystemSetup& setup, const std::string& command,
                                       const std::string& advice);

}  // namespace sallyport::app
