// The session of a call where the client names none. Ids of calls are unique in one session only
// (AU-7), and some models count their calls from zero in each conversation. So an id that was used
// before begins a session of its own.
#pragma once

#include <string>

#include "proxy/doors.h"

namespace sallyport::proxy {

// Of a call that the model proposes. The same call, while it is handed out, keeps its session.
Result<std::string> session_of_call(const DoorParts& parts, const Call& call);

// Of the call that a result answers: the latest one of this tool under the id.
Result<std::string> session_of_result(const DoorParts& parts, const std::string& tool,
                                      const std::string& tool_call_id);

}  // namespace sallyport::proxy
