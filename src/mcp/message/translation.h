// Translates messages of one era into the form of the other. Input and output are JSON text. Parts
// that are equal in both eras keep their bytes.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "mcp/message/era.h"
#include "sallyport/json.h"

namespace sallyport::mcp {

// What a client declares about itself, as JSON text; empty: nothing.
struct ClientFacts {
  std::string capabilities{};
  std::string info{};
  std::string log_level{};
};

// The client of a gateway, as it describes itself.
struct ClientProfile {
  Era era = Era::Unknown;
  json::object capabilities{};
  std::string info{};  // JSON text
  std::string name{};
};

// Params of a stateful client's request, for a stateless server.
std::string modern_params(std::string_view params, const ClientFacts& client);
// Params of a stateless client's request, for a stateful server.
std::string legacy_params(std::string_view params);

// False: a stateful client cannot use this result of a stateless server. It is not complete, or its
// type is unknown and therefore invalid.
bool is_complete(std::string_view result);
inline constexpr std::string_view kIncomplete =
    "the server's result has a type that this client cannot use";
// Results for a stateful client: without the members of the other era (`resultType`, `ttlMs`,
// `cacheScope`), and without structured content and output schemas whose root is not an object.
std::string legacy_result(std::string_view method, std::string_view result);
// Results for a stateless client. `server_info` is JSON text.
std::string modern_result(std::string_view method, std::string_view result,
                          std::string_view server_info);
// The whole answer to a subscription that has ended without an error, from its result.
std::string ended_subscription(std::string_view id, std::string_view result);
// If a stateful server refuses until a person has visited a page: the question to a stateless
// client. Empty for any other error.
std::string questions_from_error(std::string_view error);
// Errors for a stateless client: codes of the stateful era become those of the stateless one.
std::string modern_error(std::string_view error);

// Adds `listChanged` of tools to a whole answer to `initialize` or `server/discover`: the list also
// changes when a person accepts a tool that was held back.
std::string with_list_changed(std::string answer);
// The answer to `initialize` of a client that asked for `version`, from that to `server/discover`.
std::string opening_from_discovery(std::string_view discovery, std::string_view version);
// The answer to `server/discover`, from that to `initialize`.
std::string discovery_from_opening(std::string_view opening);

// The version that both sides of a session can have, given what the client asked for.
std::string_view session_version(std::string_view requested);

// The error data for a client that named no stateful version: all supported versions.
json::object every_version(std::string_view requested);
// The same for a stateless client.
json::object modern_version(std::string_view requested);

// True if the result of this method has `ttlMs` and `cacheScope`.
bool is_cacheable(std::string_view method);

}  // namespace sallyport::mcp
