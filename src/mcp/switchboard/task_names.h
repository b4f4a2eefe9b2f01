// Ids of tasks of several servers, as one client sees them: `server.id`, like tools. Input and
// output are messages as text.
#pragma once

#include <string>
#include <string_view>

#include "mcp/message/message.h"

namespace sallyport::mcp {

// A response to a request of this method, a notification, or a question of `server`.
std::string with_task_names(const Message& message, std::string_view method,
                            std::string_view server);

// The client's request about a task, with the server's own id of that task.
std::string with_own_task(std::string_view request, std::string_view id);

// The answer of a client to a question that belongs to a task of `server`.
std::string without_task_names(const Message& response, std::string_view server);

}  // namespace sallyport::mcp
