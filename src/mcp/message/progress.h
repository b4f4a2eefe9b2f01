// Progress of a request: the token under which it is told, and the rule that it must rise.
#pragma once

#include <optional>
#include <string>

#include "mcp/message/message.h"

namespace sallyport::mcp {

// The token that a request gives or a notification of progress names, as `id_text`; empty: none.
std::string progress_token(const Message& message);

// What one client has been told.
struct ToldProgress {
  std::optional<double> last{};

  // True: this notification tells of more, and counts as told.
  bool rises(const Message& notification);
};

}  // namespace sallyport::mcp
