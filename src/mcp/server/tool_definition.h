// A server's definition of one of its tools.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::mcp {

struct ToolDefinition {
  std::string name;
  std::string hash;        // digest of the whole definition
  std::string first_hash;  // of fewer members, as earlier releases pinned it
  json::object pinned;     // all of it
  bool has_output_schema = false;
  std::optional<bool> read_only{};  // the tool's own hint, if the policy trusts it (RU-29)
  bool raises_caution = false;      // it declares itself no harmless lookup (AT-25)
};

// Reads a result of `tools/list`. Elements without a name are skipped.
std::vector<ToolDefinition> definitions_in(const json::object& result);

// The `instructions` of a server for the model, or their absence. They are pinned like a tool of
// this name, which no tool may have.
inline constexpr std::string_view kInstructionsPin = "server/instructions";
ToolDefinition instructions_in(const json::object& opening);

// Removes definitions whose name occurs twice, and returns these names: a call of such a name would
// be ambiguous.
std::set<std::string> take_duplicates(std::vector<ToolDefinition>& tools);

// The text of such a result without these tools.
std::string without_tools(std::string_view result, const std::set<std::string>& names);

}  // namespace sallyport::mcp
