#include "mcp/message/translation.h"

#include <algorithm>
#include <boost/json.hpp>

#include "mcp/message/json_text.h"
#include "mcp/message/message.h"

namespace sallyport::mcp {

namespace {

// The `_meta` of params or results, or an empty object.
std::string meta_of(std::string_view object) {
  const auto meta = find(object, {"_meta"});
  return meta && meta->starts_with('{') ? std::string(*meta) : "{}";
}

bool is_object_schema(std::string_view schema) {
  const auto type = find(schema, {"type"});
  return schema.starts_with('{') && (!type || *type == "\"object\"");
}

// Tools whose schemas an old client would choke on.
std::string legacy_tools(std::string_view result) {
  const auto tools = find(result, {"tools"});
  if (!tools) return std::string(result);
  std::vector<Edit> edits;
  for (const std::string_view tool : elements(*tools)) {
    const auto schema = find(tool, {"outputSchema"});
    if (schema && !is_object_schema(*schema)) {
      edits.push_back({tool, without_member(tool, "outputSchema")});
    }
  }
  return edited(result, std::move(edits));
}

std::string without(std::string object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (find(object, {name})) object = without_member(object, name);
  }
  return object;
}

}  // namespace

bool is_cacheable(std::string_view method) {
  return method == "server/discover" || method == "tools/list" || method == "prompts/list" ||
         method == "resources/list" || method == "resources/templates/list" ||
         method == "resources/read";
}

std::string_view session_version(std::string_view requested) {
  const auto found = std::ranges::find(kLegacyVersions, requested);
  return found == kLegacyVersions.end() ? kLegacyVersion : *found;
}

json::object every_version(std::string_view requested) {
  json::array supported{kModernVersion};
  for (const std::string_view version : kLegacyVersions) supported.push_back(json::string(version));
  return {{"supported", std::move(supported)}, {"requested", requested}};
}

json::object modern_version(std::string_view requested) {
  return {{"supported", json::array{kModernVersion}}, {"requested", requested}};
}

std::string modern_params(std::string_view params, const ClientFacts& client) {
  std::string meta = meta_of(params);
  if (!client.log_level.empty()) meta = with_member(meta, kMetaLogLevel, client.log_level);
  if (!client.info.empty()) meta = with_member(meta, kMetaClient, client.info);
  meta = with_member(meta, kMetaCapabilities,
                     client.capabilities.empty() ? "{}" : client.capabilities);
  meta = with_member(meta, kMetaVersion, json_quoted(kModernVersion));
  return with_member(params.empty() ? "{}" : params, "_meta", meta);
}

std::string legacy_params(std::string_view params) {
  if (find(params, {"inputResponses"}) || find(params, {"requestState"})) {
    return legacy_params(without(std::string(params), {"inputResponses", "requestState"}));
  }
  const auto meta = find(params, {"_meta"});
  if (!meta) return std::string(params);
  const std::string left =
      without(std::string(*meta), {kMetaVersion, kMetaCapabilities, kMetaClient, kMetaLogLevel});
  if (members(left).empty()) return without_member(params, "_meta");
  return with_member(params, "_meta", left);
}

bool is_complete(std::string_view result) {
  const auto type = find(result, {"resultType"});
  return !type || *type == "\"complete\"";
}

std::string legacy_result(std::string_view method, std::string_view result) {
  if (!result.starts_with('{')) return std::string(result);
  std::string out = without(std::string(result), {"resultType", "ttlMs", "cacheScope"});
  if (method == "tools/list") out = legacy_tools(out);
  const auto structured = find(out, {"structuredContent"});
  if (structured && !structured->starts_with('{')) out = without_member(out, "structuredContent");
  const auto meta = find(out, {"_meta"});
  if (!meta) return out;
  const std::string left = without(std::string(*meta), {kMetaServer, kMetaSubscription});
  return members(left).empty() ? without_member(out, "_meta") : with_member(out, "_meta", left);
}

std::string modern_result(std::string_view method, std::string_view result,
                          std::string_view server_info) {
  if (!result.starts_with('{')) return std::string(result);
  std::string out(result);
  if (is_cacheable(method)) {
    out = with_member(out, "cacheScope", "\"private\"");
    out = with_member(out, "ttlMs", "0");
  }
  if (!server_info.empty()) {
    const std::string meta = meta_of(out);
    if (!find(meta, {kMetaServer})) {
      out = with_member(out, "_meta", with_member(meta, kMetaServer, server_info));
    }
  }
  if (!find(out, {"resultType"})) out = with_member(out, "resultType", "\"complete\"");
  return out;
}

std::string ended_subscription(std::string_view id, std::string_view result) {
  const std::string meta = with_member(meta_of(std::string(result)), kMetaSubscription, id);
  return result_text(id,
                     modern_result("subscriptions/listen", with_member(result, "_meta", meta), {}));
}

std::string questions_from_error(std::string_view error) {
  constexpr std::string_view kPageRequired = "-32042";
  const auto pages = find(error, {"data", "elicitations"});
  if (find(error, {"code"}) != kPageRequired || !pages) return {};
  std::string wanted;
  std::size_t count = 0;
  for (const std::string_view page : elements(*pages)) {
    const std::string params =
        with_member(without(std::string(page), {"elicitationId"}), "mode", "\"url\"");
    if (count > 0) wanted += ',';
    wanted += "\"page" + std::to_string(++count) + R"(":{"method":"elicitation/create","params":)" +
              params + '}';
  }
  return R"({"resultType":"input_required","inputRequests":{)" + wanted + "}}";
}

std::string modern_error(std::string_view error) {
  constexpr std::string_view kResourceNotFound = "-32002";
  const auto code = find(error, {"code"});
  if (!code || *code != kResourceNotFound) return std::string(error);
  return with_member(error, "code", std::to_string(kInvalidParams));
}

std::string with_list_changed(std::string answer) {
  const auto tools = find(answer, {"result", "capabilities", "tools"});
  if (!tools || !tools->starts_with('{') || find(*tools, {"listChanged"}) == "true") return answer;
  return edited(answer, {{*tools, with_member(*tools, "listChanged", "true")}});
}

std::string opening_from_discovery(std::string_view discovery, std::string_view version) {
  const std::string capabilities(find(discovery, {"capabilities"}).value_or("{}"));
  const std::string info(
      find(discovery, {"_meta", kMetaServer}).value_or(R"({"name":"unknown","version":"0"})"));
  std::string opening = R"({"protocolVersion":)" + json_quoted(session_version(version)) +
                        ",\"capabilities\":" + without(capabilities, {"extensions", "tasks"}) +
                        ",\"serverInfo\":" + info;
  if (const auto instructions = find(discovery, {"instructions"})) {
    opening += ",\"instructions\":" + std::string(*instructions);
  }
  return opening + '}';
}

std::string discovery_from_opening(std::string_view opening) {
  const std::string capabilities(find(opening, {"capabilities"}).value_or("{}"));
  const std::string info(find(opening, {"serverInfo"}).value_or(""));
  std::string discovery = R"({"supportedVersions":[)" + json_quoted(kModernVersion) +
                          "],\"capabilities\":" + without(capabilities, {"tasks"});
  if (const auto instructions = find(opening, {"instructions"})) {
    discovery += ",\"instructions\":" + std::string(*instructions);
  }
  return modern_result("server/discover", discovery + '}', info);
}

}  // namespace sallyport::mcp
