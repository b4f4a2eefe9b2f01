#include <boost/json.hpp>

#include "core/record/shape_fields.h"
#include "core/record/shapes.h"
#include "sallyport/call.h"

namespace sallyport {

namespace {

Result<Document> document_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  Document document{.media_type = in.text("media_type"),
                    .data = in.text("data"),
                    .detail = in.optional_text("detail")};
  return core::finished(in, std::move(document));
}

Result<std::uint64_t> artifact_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  return core::finished(in, in.number("id"));
}

}  // namespace

json::object to_json(const Document& document) {
  json::object object{{"media_type", document.media_type}, {"data", document.data}};
  if (document.detail) object["detail"] = *document.detail;
  return object;
}

template <class Out>
void core::write_members(Out& out, const ToolResult& result) {
  out.put("success", result.success);
  out.put("output", result.output);
  if (result.artifact) out.object("artifact", [&] { out.put("id", *result.artifact); });
  out.put("data", result.data);
  if (!result.documents.empty()) out.put("documents", array_of(result.documents));
  out.put("duration_ms", result.duration_ms);
}
template void core::write_members(CanonicalWriter& out, const ToolResult& result);
template void core::write_members(ObjectWriter& out, const ToolResult& result);

json::object to_json(const ToolResult& result) {
  return core::object_of(result);
}

Result<ToolResult> tool_result_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  ToolResult result{.success = in.boolean("success"),
                    .output = in.text("output"),
                    .data = in.optional_any("data"),
                    .duration_ms = in.optional_number("duration_ms"),
                    .artifact = core::optional_shape_in(in, "artifact", artifact_from_json)};
  if (in.has("documents")) result.documents = core::shapes_in(in, "documents", document_from_json);
  return core::finished(in, std::move(result));
}

}  // namespace sallyport
