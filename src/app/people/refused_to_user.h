// On a machine with the system set-up, only the account of the service may use what belongs to it.
#pragma once

#include <string>

#include "app/machine/system_setup.h"

namespace sallyport::app {

// Root passes this check too: the ledger has an owner and refuses root by itself.
bool belongs_to_service(const SystemSetup& setup);

// `Unauthenticated` with what to do instead. The ledger of the service names user, process and
// command, where the service runs; the message says whether it does.
std::unexpected<Error> refused_to_user(const SystemSetup& setup, const std::string& command,
                                       const std::string& advice);

}  // namespace sallyport::app
