// The origin of a call, as its client says it (AT-12), and the scope that the client puts around it
// (AT-13): `params._meta["sallyport/dispatch"]`.
//
//   {"turn": 3, "provider": "anthropic", "model": "m", "scope": {"tier": "suggest"},
//    "trigger": {"id": "evt-7", "provider": "github", "kind": "push", "trace_id": "t-1"}}
#pragma once

#include "mcp/message/message.h"
#include "sallyport/call.h"

namespace sallyport::mcp {

inline constexpr std::string_view kDispatchMember = "sallyport/dispatch";

// Moves it from the request, text and value, into the call, whose agent is known. A
// scope only narrows, so any client may give one. `InvalidInput` names the member that is unknown,
// too long or of another type; the call is then refused.
Result<void> take_dispatch(Message& request, Call& call);

}  // namespace sallyport::mcp
