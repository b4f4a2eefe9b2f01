// `guard stream --channels`: a dry run over the channels of one message (GR-54, GR-55).
#pragma once

#include "app/cli/policy_commands.h"

namespace sallyport::app {

Result<int> guard_message(const Context& context, const GuardStreamOptions& options);

}  // namespace sallyport::app
