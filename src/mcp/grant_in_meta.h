// A capability token that a client sends with a request (CG-10).
#pragma once

#include "mcp/message.h"
#include "sallyport/call.h"

namespace sallyport::mcp {

// Takes `params._meta["sallyport/grant"]` out of the request, text and value, and puts it into the
// call. What is left stays the bytes it was.
void take_grant(Message& request, Call& call);

}  // namespace sallyport::mcp
