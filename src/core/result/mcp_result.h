// Converts the answer of a tool server of the Model Context Protocol to a `ToolResult`.
#pragma once

#include <boost/json/object.hpp>

#include "sallyport/call.h"

namespace sallyport {

// `result` of a `tools/call` response (AU-19). Text parts joined by newlines are the output, and
// `structuredContent` the data. Every other part is a document: none is lost, and one that is not
// understood is kept as its own JSON. Anything but `false` in `isError` is a failure.
ToolResult tool_result_from_mcp(const json::object& result);

}  // namespace sallyport
