// Describes what a call is about to do, from the classification of its tool, for an authorization
// (EV-84).
#pragma once

#include "sallyport/call.h"
#include "sallyport/classification.h"
#include "sallyport/preview.h"

namespace sallyport::core {

Preview preview_of(const Call& call, const Classification& classification,
                   std::string working_directory);

}  // namespace sallyport::core
