#include "setup/doctor.h"

#include "cli/command.h"

namespace sallyport::app {

namespace {

const Command kDoctor("doctor", "check everything that a ledger depends on, and say what to do",
                      doctor);

}  // namespace

}  // namespace sallyport::app
