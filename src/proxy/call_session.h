// Chooses the session of a call if the client names none. Call ids are unique within one session
// only (AU-7), and some models count calls from zero in each conversation. So a call id that was
// used before starts a new session.
#pragma once

#include <string>

#include "proxy/doors.h"

namespace sallyport::proxy {

// The session of a call that the model proposes. While a call is handed out, it keeps its session.
Result<std::string> session_of_call(const DoorParts& parts, const Call& call);

// The session of the call that a result answers: the latest call of this tool with the id.
Result<std::string> session_of_result(const DoorParts& parts, const std::string& tool,
                                      const std::string& tool_call_id);

}  // namespace sallyport::proxy
