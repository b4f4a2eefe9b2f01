// The name of a server in records if the user gave none.
#pragma once

#include <string>
#include <vector>

namespace sallyport::mcp {

// `npx -y @scope/server-files@1.2 /tmp` is `server-files`, `python3 -m weather` is `weather`.
std::string name_of_command(const std::vector<std::string>& command);

}  // namespace sallyport::mcp
