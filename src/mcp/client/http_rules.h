// What the headers of a request must say beside its body, in either era.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "mcp/message/message.h"
#include "net/server_request.h"

namespace sallyport::mcp {

inline constexpr std::string_view kEventStream = "text/event-stream";

// An error that is found before the gateway is asked.
struct Refused {
  unsigned status = 400;
  std::int64_t code = 0;
  std::string message{};
  json::value data{};
};

// Of a request of the stateless era: version, method and name in headers and body.
std::optional<Refused> refuse_modern(const net::ServerRequest& head, const Message& message);
// Of a request in a session: the version, where a header names one.
std::optional<Refused> refuse_legacy(const net::ServerRequest& head);

// Is it of the stateless era?
bool is_modern(const net::ServerRequest& head, const Message& message);

// What is wrong with the `Mcp-Param-...` headers of a call, given the input schema of its tool;
// empty where nothing is.
std::string argument_contradiction(const net::ServerRequest& head, const json::value& schema,
                                   const json::value& input);

// A header's value, decoded where it stands between both marks of `=?base64?...?=`. Nothing: it is
// malformed.
std::optional<std::string> header_text(std::string_view value);

// The status of an answer of the stateless era that carries this error.
unsigned status_of_error(std::int64_t code);

// Is this media type among those of an `Accept` header? Where there is none, everything is.
bool accepts(const net::ServerRequest& head, std::string_view type);

}  // namespace sallyport::mcp
