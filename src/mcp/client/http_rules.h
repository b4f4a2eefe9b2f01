// Checks the headers of a request against its body, in either era.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "mcp/message/message.h"
#include "net/server_request.h"

namespace sallyport::mcp {

inline constexpr std::string_view kEventStream = "text/event-stream";

// An error that is found before the request reaches the gateway.
struct Refused {
  unsigned status = 400;
  std::int64_t code = 0;
  std::string message{};
  json::value data{};
};

// Checks a stateless request: version, method and name in headers and body.
std::optional<Refused> refuse_modern(const net::ServerRequest& head, const Message& message);
// Checks a request in a session: the version, if a header names one.
std::optional<Refused> refuse_legacy(const net::ServerRequest& head);

// True if the request is of the stateless era.
bool is_modern(const net::ServerRequest& head, const Message& message);

// Returns the error in the `Mcp-Param-...` headers of a call, given the input schema of its tool;
// empty: there is none.
std::string argument_contradiction(const net::ServerRequest& head, const json::value& schema,
                                   const json::value& input);

// The value of a header, decoded if it has the form `=?base64?...?=`. No value: it is malformed.
std::optional<std::string> header_text(std::string_view value);

// The status of an answer of the stateless era that carries this error.
unsigned status_of_error(std::int64_t code);

// True if an `Accept` header allows this media type. Without the header every type is allowed.
bool accepts(const net::ServerRequest& head, std::string_view type);

}  // namespace sallyport::mcp
