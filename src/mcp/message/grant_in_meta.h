// A capability token that a client sends with a request (CG-10).
#pragma once

#include "mcp/message/message.h"
#include "net/server_request.h"
#include "sallyport/call.h"

namespace sallyport::mcp {

// Takes `params._meta["sallyport/grant"]` out of the request, text and value, and puts it into the
// call. The rest keeps its bytes.
void take_grant(Message& request, Call& call);

// The text of a request with the tokens of its `Sallyport-Grant` headers, where `take_grant` finds
// them. A token that the text already has stays.
std::string with_grant_headers(std::string text, const net::ServerRequest& head);

}  // namespace sallyport::mcp
