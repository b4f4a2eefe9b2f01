// The HTTP headers of a request to a stateless server.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/message/message.h"
#include "net/http_client.h"

namespace sallyport::mcp {

// An argument of a tool that is repeated in a header.
struct ParamHeader {
  std::vector<std::string> path;  // names from the arguments down
  std::string header;             // behind `Mcp-Param-`
};

// The headers that the input schema of a tool asks for (`x-mcp-header`). No value: it asks for a
// forbidden header, and such a tool is not offered.
std::optional<std::vector<ParamHeader>> param_headers(const json::object& tool);

// Text as a header can carry it: as it is, or between `=?base64?` and `?=`.
std::string header_value(std::string_view text);

// `request` is what the server gets, so that headers and body say the same.
net::HttpHeaders modern_headers(const Message& request, const std::vector<ParamHeader>& params);

}  // namespace sallyport::mcp
