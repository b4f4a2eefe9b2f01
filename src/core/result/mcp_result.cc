#include "core/result/mcp_result.h"

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_members.h"

namespace sallyport {

namespace {

std::string media_type_in(const json::object& part, std::string_view otherwise) {
  return std::string(text_in(part, "mimeType").value_or(otherwise));
}

std::optional<std::string> detail_in(const json::object& part, std::string_view name) {
  const auto detail = text_in(part, name);
  return detail ? std::optional<std::string>(*detail) : std::nullopt;
}

std::optional<Document> media(const json::object& part) {
  const auto data = text_in(part, "data");
  if (!data) return std::nullopt;
  return Document{.media_type = media_type_in(part, "application/octet-stream"),
                  .data = std::string(*data)};
}

// Text stays text: encoded, it would escape every search for secrets.
std::optional<Document> embedded(const json::object& part) {
  const json::object* const resource = object_in(part, "resource");
  if (resource == nullptr) return std::nullopt;
  const auto text = text_in(*resource, "text");
  const auto blob = text_in(*resource, "blob");
  if (text.has_value() == blob.has_value()) return std::nullopt;
  return Document{
      .media_type = media_type_in(*resource, text ? "text/plain" : "application/octet-stream"),
      .data = std::string(text ? *text : *blob),
      .detail = detail_in(*resource, "uri")};
}

// The media type is that of the link itself. Its target was not part of the answer.
std::optional<Document> link(const json::object& part) {
  const auto uri = text_in(part, "uri");
  if (!uri) return std::nullopt;
  return Document{
      .media_type = "text/uri-list", .data = std::string(*uri), .detail = detail_in(part, "name")};
}

std::optional<Document> known_document(const json::object& part) {
  const std::string_view type = text_in(part, "type").value_or("");
  if (type == "image" || type == "audio") return media(part);
  if (type == "resource") return embedded(part);
  if (type == "resource_link") return link(part);
  return std::nullopt;
}

Document document_of(const json::value& part) {
  const json::object* const object = part.if_object();
  std::optional<Document> known = object == nullptr ? std::nullopt : known_document(*object);
  if (known) return std::move(*known);
  return {.media_type = "application/json", .data = canonical_json(part)};
}

std::optional<std::string_view> text_of(const json::value& part) {
  const json::object* const object = part.if_object();
  if (object == nullptr || text_in(*object, "type") != "text") return std::nullopt;
  return text_in(*object, "text");
}

bool succeeded(const json::object& result) {
  const json::value* const is_error = result.if_contains("isError");
  return is_error == nullptr || *is_error == json::value(false);
}

}  // namespace

ToolResult tool_result_from_mcp(const json::object& result) {
  ToolResult mapped{.success = succeeded(result)};
  if (const json::value* const data = result.if_contains("structuredContent")) mapped.data = *data;
  const json::value* const content = result.if_contains("content");
  if (content == nullptr) return mapped;
  if (!content->is_array()) {
    mapped.documents.push_back(document_of(*content));
    return mapped;
  }
  bool first = true;
  for (const json::value& part : content->get_array()) {
    const auto text = text_of(part);
    if (!text) {
      mapped.documents.push_back(document_of(part));
      continue;
    }
    if (!first) mapped.output += '\n';
    mapped.output += *text;
    first = false;
  }
  return mapped;
}

}  // namespace sallyport
