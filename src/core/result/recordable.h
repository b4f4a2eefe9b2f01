// An answer in a form that a record can hold.
#pragma once

#include "sallyport/envelope.h"

namespace sallyport::core {

// Numbers that a double cannot hold become exact. A value that is nested too deep becomes malformed
// output. So the form of an answer never keeps it from being recorded.
Envelope recordable(Envelope envelope);

}  // namespace sallyport::core
