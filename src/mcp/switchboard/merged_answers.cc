#include "mcp/switchboard/merged_answers.h"

#include <boost/json.hpp>
#include <set>

#include "base/encoding.h"
#include "base/json_members.h"
#include "mcp/message/era.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

json::object object_of(std::string_view text) {
  Result<ParsedJson> read = parse_json(text, {.bytes = text.size() + 1});
  return read && read->value.is_object() ? std::move(read->value.get_object()) : json::object();
}

std::string text_at(std::string_view object, std::string_view name) {
  const Result<ParsedJson> read = parse_json(find(object, {name}).value_or("null"));
  return read && read->value.is_string() ? std::string(read->value.get_string()) : std::string();
}

// Joins the members of both. If both have one, objects are joined and `true` wins.
void join(json::object& into, const json::object& more) {
  for (const auto& [name, value] : more) {
    json::value* const known = into.if_contains(name);
    if (known == nullptr) {
      into[name] = value;
    } else if (known->is_object() && value.is_object()) {
      join(known->get_object(), value.get_object());
    } else if (known->is_bool() && value.is_bool()) {
      *known = known->get_bool() || value.get_bool();
    }
  }
}

// Adds what all servers declare: capabilities, and instructions under the servers' names.
void describe(json::object& out, const std::vector<PartAnswer>& parts, bool all) {
  json::object capabilities;
  std::string instructions;
  for (const PartAnswer& part : parts) {
    const json::object result = object_of(part.result);
    if (const json::object* const has = object_in(result, "capabilities")) join(capabilities, *has);
    if (const auto text = text_in(result, "instructions")) {
      if (!instructions.empty()) instructions += "\n\n";
      instructions += part.server + ": " + std::string(*text);
    }
  }
  for (const std::string_view lists : {"tools", "prompts", "resources"}) {
    if (!all) capabilities.emplace(lists, json::object());
    json::value* const has = capabilities.if_contains(lists);
    if (has != nullptr && has->is_object()) has->get_object()["listChanged"] = true;
  }
  out["capabilities"] = std::move(capabilities);
  if (!instructions.empty()) out["instructions"] = instructions;
}

json::object own_info() {
  return {{"name", "sallyport"}, {"version", "1"}};
}

}  // namespace

std::string qualified(std::string_view server, std::string_view name) {
  return std::string(server) + '.' + std::string(name);
}

std::string merged_opening(const std::vector<PartAnswer>& parts, bool all) {
  std::string version;
  for (const PartAnswer& part : parts) {
    const std::string given = text_at(part.result, "protocolVersion");
    if (version.empty() || given < version) version = given;
  }
  json::object out{{"protocolVersion", version.empty() ? std::string(kLegacyVersion) : version},
                   {"serverInfo", own_info()}};
  describe(out, parts, all);
  return json::serialize(out);
}

std::string merged_discovery(const std::vector<PartAnswer>& parts, bool all) {
  json::object out{{"resultType", "complete"},
                   {"supportedVersions", json::array{kModernVersion}},
                   {"ttlMs", 0},
                   {"cacheScope", "private"},
                   {"_meta", json::object{{kMetaServer, own_info()}}}};
  describe(out, parts, all);
  return json::serialize(out);
}

std::string_view list_member(std::string_view method) {
  if (method == "tools/list") return "tools";
  if (method == "prompts/list") return "prompts";
  if (method == "resources/list") return "resources";
  if (method == "resources/templates/list") return "resourceTemplates";
  if (method == "tasks/list") return "tasks";
  return {};
}

ListChange change_of(std::string_view method) {
  if (method == "tools/list") return {"notifications/tools/list_changed", "toolsListChanged"};
  if (method == "prompts/list") return {"notifications/prompts/list_changed", "promptsListChanged"};
  if (method.starts_with("resources/") && !list_member(method).empty()) {
    return {"notifications/resources/list_changed", "resourcesListChanged"};
  }
  return {};
}

std::string merged_list(std::string_view method, const std::vector<PartAnswer>& parts) {
  const std::string_view member = list_member(method);
  const bool named = member == "tools" || member == "prompts" || member == "tasks";
  const std::string_view name_key = member == "tasks" ? "taskId" : "name";
  const std::string_view key = member == "resources" ? "uri" : "uriTemplate";
  std::set<std::string> seen;
  std::map<std::string, std::string> cursors;
  std::string items = "[";
  for (const PartAnswer& part : parts) {
    for (const std::string_view item : elements(find(part.result, {member}).value_or("[]"))) {
      std::string shown(item);
      if (named) {
        std::string name;
        append_canonical_string(name, qualified(part.server, text_at(item, name_key)));
        shown = with_member(item, name_key, name);
      } else if (!seen.insert(text_at(item, key)).second) {
        continue;
      }
      if (items.size() > 1) items += ',';
      items += shown;
    }
    if (std::string next = text_at(part.result, "nextCursor"); !next.empty()) {
      cursors[part.server] = std::move(next);
    }
  }
  std::string out = without_member(parts.empty() ? "{}" : parts.front().result, "nextCursor");
  out = with_member(out, member, items + ']');
  if (cursors.empty()) return out;
  return with_member(out, "nextCursor", '"' + merged_cursor(cursors) + '"');
}

std::string merged_cursor(const std::map<std::string, std::string>& cursors) {
  json::object out;
  for (const auto& [server, cursor] : cursors) out[server] = cursor;
  return base64(as_bytes(json::serialize(out)));
}

std::optional<std::map<std::string, std::string>> split_cursor(std::string_view cursor) {
  const std::optional<std::string> text = from_base64(cursor);
  if (!text) return std::nullopt;
  std::map<std::string, std::string> cursors;
  for (const auto& [server, value] : object_of(*text)) {
    if (!value.is_string()) return std::nullopt;
    cursors[std::string(server)] = std::string(value.get_string());
  }
  if (cursors.empty()) return std::nullopt;
  return cursors;
}

}  // namespace sallyport::mcp
