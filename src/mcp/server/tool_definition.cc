#include "mcp/server/tool_definition.h"

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

// A hint may only raise caution, because a server's statement about itself is not trusted.
bool raises(const json::object& tool) {
  const json::object* const hints = object_in(tool, "annotations");
  if (hints == nullptr) return false;
  return bool_in(*hints, "destructiveHint") == true || bool_in(*hints, "readOnlyHint") == false;
}

ToolDefinition definition_of(std::string_view name, const json::object& tool) {
  ToolDefinition definition{.name = std::string(name)};
  json::object first;
  for (const std::string_view member :
       {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}) {
    if (const json::value* const value = tool.if_contains(member)) first[member] = *value;
  }
  definition.first_hash = hex(sha256(canonical_json(first)));
  definition.pinned = tool;
  definition.hash = hex(sha256(canonical_json(tool)));
  definition.has_output_schema = tool.contains("outputSchema");
  definition.raises_caution = raises(tool);
  const json::object* const hints = object_in(tool, "annotations");
  if (hints != nullptr) definition.read_only = bool_in(*hints, "readOnlyHint");
  return definition;
}

}  // namespace

std::vector<ToolDefinition> definitions_in(const json::object& result) {
  std::vector<ToolDefinition> definitions;
  const json::value* const tools = result.if_contains("tools");
  if (tools == nullptr || !tools->is_array()) return definitions;
  for (const json::value& tool : tools->get_array()) {
    const json::object* const object = tool.if_object();
    const auto name = object == nullptr ? std::nullopt : text_in(*object, "name");
    if (name) definitions.push_back(definition_of(*name, *object));
  }
  return definitions;
}

ToolDefinition instructions_in(const json::object& opening) {
  const json::value* const instructions = opening.if_contains("instructions");
  return definition_of(
      kInstructionsPin,
      {{"name", kInstructionsPin}, {"instructions", instructions ? *instructions : nullptr}});
}

std::set<std::string> take_duplicates(std::vector<ToolDefinition>& tools) {
  std::set<std::string> names;
  std::set<std::string> doubled;
  for (const ToolDefinition& tool : tools) {
    if (!names.insert(tool.name).second) doubled.insert(tool.name);
  }
  std::erase_if(tools, [&](const ToolDefinition& tool) { return doubled.contains(tool.name); });
  return doubled;
}

std::string without_tools(std::string_view result, const std::set<std::string>& names) {
  const auto tools = find(result, {"tools"});
  if (!tools) return std::string(result);
  std::string kept = "[";
  for (const std::string_view tool : elements(*tools)) {
    const auto name = find(tool, {"name"});
    const Result<ParsedJson> read = parse_json(name.value_or("null"));
    if (read && read->value.is_string() && names.contains(std::string(read->value.get_string()))) {
      continue;
    }
    if (kept.size() > 1) kept += ',';
    kept += tool;
  }
  return edited(result, {{*tools, kept + ']'}});
}

}  // namespace sallyport::mcp
