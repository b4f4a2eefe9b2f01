// What a server says about one of its tools.
#pragma once

#include <boost/json/object.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::mcp {

struct ToolDefinition {
  std::string name;
  std::string hash;     // of what a model and a person are told: see `pinned`
  json::object pinned;  // name, title, description, schemas, annotations
  bool has_output_schema = false;
  bool raises_caution = false;  // it says of itself that it is no harmless lookup (AT-25)
};

// Of a result of `tools/list`. Whatever has no name is passed over.
std::vector<ToolDefinition> definitions_in(const json::object& result);

// The text of such a result without these tools.
std::string without_tools(std::string_view result, const std::set<std::string>& names);

}  // namespace sallyport::mcp
