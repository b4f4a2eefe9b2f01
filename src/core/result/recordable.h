// An answer in a form that a record can hold.
#pragma once

#include "sallyport/envelope.h"

namespace sallyport::core {

// Numbers that a double cannot hold become exact, and what is nested too deep is malformed output:
// what was done must not go unrecorded for its form.
Envelope recordable(Envelope envelope);

}  // namespace sallyport::core
