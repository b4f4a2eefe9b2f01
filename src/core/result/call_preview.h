// What a call is about to do, in the words of an authorization (EV-84), from how its tool is
// classified.
#pragma once

#include "sallyport/call.h"
#include "sallyport/classification.h"
#include "sallyport/preview.h"

namespace sallyport::core {

Preview preview_of(const Call& call, const Classification& classification,
                   std::string working_directory);

}  // namespace sallyport::core
