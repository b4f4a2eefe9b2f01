#include "llm/request_reader.h"

#include <boost/json.hpp>

#include "llm/responses_request.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

void RequestReader::leaf(const Source& source, std::string path, std::string_view text) {
  request_.leaves.push_back({.path = std::move(path),
                             .text = std::string(text),
                             .kind = source.kind,
                             .tool_call_id = source.tool_call_id,
                             .tool = source.tool});
}

void RequestReader::unread(std::string path, std::string_view kind) {
  request_.unread.push_back({.path = std::move(path), .kind = std::string(kind)});
}

void RequestReader::file(const Source& source, const std::string& path, const json::value& id) {
  unread(path, "file");
  if (source.repeated) return;
  request_.state.push_back(
      {.path = path, .kind = "file", .id = std::string(std::string_view(id.get_string()))});
}

void RequestReader::all(const Source& source, const std::string& path, const json::value& value) {
  if (const json::string* const text = value.if_string()) {
    leaf(source, path, *text);
  } else if (const json::array* const array = value.if_array()) {
    std::size_t index = 0;
    for (const json::value& element : *array) all(source, pointer_to(path, index++), element);
  } else if (const json::object* const object = value.if_object()) {
    for (const auto& [name, member] : *object) {
      const std::string below = pointer_to(path, name);
      member_name(source, below, name);
      all(source, below, member);
    }
  }
}

// A model reads member names too. Changing a name would change its meaning.
void RequestReader::member_name(const Source& source, const std::string& path,
                                std::string_view name) {
  if (source.kind == Leaf::Kind::ToolOutput) return;
  request_.names.push_back({.path = path, .text = std::string(name), .kind = Leaf::Kind::Fixed});
}

void RequestReader::tool(const std::string& path, const json::value& value) {
  if (const json::array* const array = value.if_array()) {
    std::size_t index = 0;
    for (const json::value& element : *array) tool(pointer_to(path, index++), element);
  } else if (const json::object* const object = value.if_object()) {
    for (const auto& [name, member] : *object) {
      const std::string below = pointer_to(path, name);
      if (name == "description" && member.is_string()) {
        leaf({}, below, member.get_string());
      } else {
        member_name({}, below, name);
        tool(below, member);
      }
    }
  } else {
    all(fixed(), path, value);
  }
}

bool flag_in(const json::value& body, std::string_view name) {
  const json::value* const flag = member_of(body, name);
  return flag != nullptr && flag->is_bool() && flag->get_bool();
}

Result<std::string> model_in(const json::value& body) {
  const std::string_view model = text_in(body, "model");
  if (model.empty()) {
    return fail(ErrorCode::InvalidInput, "`model` is missing or no text; name a model", "model");
  }
  return std::string(model);
}

Result<Request> read_request(RequestKind kind, const json::value& body) {
  switch (kind) {
    case RequestKind::Messages:
    case RequestKind::CountTokens:
      return read_anthropic_request(kind, body);
    case RequestKind::Chat:
    case RequestKind::Embeddings:
      return read_chat_request(kind, body);
    default:
      return read_responses_request(kind, body);
  }
}

void withhold(Splice& splice, RequestKind kind, const ToolReturn& result, std::string_view notice,
              const json::value& body) {
  switch (kind) {
    case RequestKind::Messages:
    case RequestKind::CountTokens:
      return withhold_anthropic(splice, result, notice, body);
    case RequestKind::Chat:
    case RequestKind::Embeddings:
      return withhold_chat(splice, result, notice, body);
    default:
      return withhold_responses(splice, result, notice, body);
  }
}

}  // namespace sallyport::llm
