// The methods that the protocol has, in both eras. A method that is none of them is refused unless
// the policy names it (`mcp.allow_methods`).
#pragma once

#include <string>
#include <string_view>

#include "mcp/message/message.h"

namespace sallyport::mcp {

enum class Side { Client, Server };
std::string_view to_string(Side side);

// True if this side may send such a message.
bool is_known(Side from, const Message& message);

// True if it is the method of a request of either side. No tool may have that name, because calls
// are judged and recorded under the name of a tool or of a method.
bool is_request_name(std::string_view name);

// Why such a request is refused, and how it is allowed.
std::string unknown_method(std::string_view method);

}  // namespace sallyport::mcp
