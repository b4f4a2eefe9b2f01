// Messages of one era in the words of the other. Text in, text out: what has no other word in the
// other era stays as it came.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "mcp/message/era.h"
#include "sallyport/json.h"

namespace sallyport::mcp {

// What a client says about itself; JSON text, empty where it said nothing.
struct ClientFacts {
  std::string capabilities{};
  std::string info{};
  std::string log_level{};
};

// Who the client of a gateway is, as far as it has said so.
struct ClientProfile {
  Era era = Era::Unknown;
  json::object capabilities{};
  std::string info{};  // JSON text
  std::string name{};
};

// Params of a session's request for a server that wants to know everything each time.
std::string modern_params(std::string_view params, const ClientFacts& client);
// Params of such a request for a server that was told at the opening.
std::string legacy_params(std::string_view params);

// Results for a client of sessions: without what only the other era has (`resultType`, `ttlMs`,
// `cacheScope`), and without structured content and output schemas whose root is no object.
std::string legacy_result(std::string_view method, std::string_view result);
// Results for a client of the other era. `server_info` is JSON text.
std::string modern_result(std::string_view method, std::string_view result,
                          std::string_view server_info);
// Where a server of sessions refuses until a person has visited some page: what a stateless client
// is asked to show. Empty for any other error.
std::string questions_from_error(std::string_view error);
// Errors likewise: codes that only sessions have are those of the other era.
std::string modern_error(std::string_view error);

// An answer to `initialize` or `server/discover`, the whole message: the list of tools changes also
// without the server, when a person accepts one that was held back.
std::string telling_of_tools(std::string answer);
// The answer to `initialize` of a client that asked for `version`, from that to `server/discover`.
std::string opening_from_discovery(std::string_view discovery, std::string_view version);
// The other way round.
std::string discovery_from_opening(std::string_view opening);

// The version that both sides of a session can have, given what the client asked for.
std::string_view session_version(std::string_view asked);

// What to tell a client that named no version, or none of a session: all that are spoken here.
json::object every_version(std::string_view requested);
// The same for one of the stateless era.
json::object modern_version(std::string_view requested);

// Does the result carry `ttlMs` and `cacheScope`?
bool is_cacheable(std::string_view method);

}  // namespace sallyport::mcp
