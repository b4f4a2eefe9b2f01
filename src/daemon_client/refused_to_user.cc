#include "daemon_client/refused_to_user.h"

#include <fmt/format.h>
#include <unistd.h>

#include "daemon_client/service_line.h"
#include "machine/accounts.h"

namespace sallyport::app {

bool belongs_to_service(const SystemSetup& setup) {
  return ::geteuid() == setup.service_uid || ::geteuid() == 0;
}

std::unexpected<Error> refused_to_user(const SystemSetup& setup, const std::string& command,
                                       const std::string& advice) {
  const Result<void> recorded = record_refused(setup, command);
  return fail(
      ErrorCode::Unauthenticated,
      fmt::format("`sallyport {}` is for the account `{}` on this machine, and not for `{}` "
                  "({}); {}",
                  command, setup.service_user, name_of_user(::geteuid()),
                  recorded ? "the attempt is on record"
                           : "the service does not answer, so the attempt is not on record",
                  advice));
}

}  // namespace sallyport::app
