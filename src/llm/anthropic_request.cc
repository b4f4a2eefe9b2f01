#include <boost/json.hpp>

#include "base/try.h"
#include "llm/request_reader.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

class AnthropicReader : public RequestReader {
 public:
  using RequestReader::RequestReader;

  void read(const json::object& body) {
    for (const auto& [name, value] : body) member(name, pointer_to("", name), value);
  }

 private:
  void member(std::string_view name, const std::string& path, const json::value& value) {
    if (name == "system") return content({}, path, value);
    if (name == "messages" && value.is_array()) return messages(path, value.get_array());
    if (name == "tools" && value.is_array()) return tools(path, value.get_array());
    if (name == "mcp_servers" && value.is_array()) servers(path, value.get_array());
    if (name == "thread") {
      const std::string_view id = text_in(value, "previous_message_id");
      if (!id.empty()) {
        request_.state.push_back({.path = pointer_to(path, "previous_message_id"),
                                  .kind = "message",
                                  .id = std::string(id)});
      }
    }
    if (name == "container") {
      const std::string_view id =
          value.is_string() ? std::string_view(value.get_string()) : text_in(value, "id");
      if (!id.empty()) {
        request_.stores.push_back({.path = path, .kind = "container", .id = std::string(id)});
      }
    }
    all(fixed(), path, value);
  }

  void messages(const std::string& path, const json::array& list) {
    std::size_t index = 0;
    for (const json::value& message : list) {
      const std::string at = pointer_to(path, index++);
      const json::object* const members = message.if_object();
      if (members == nullptr) {
        all(fixed(), at, message);
        continue;
      }
      for (const auto& [name, value] : *members) {
        if (name == "content") {
          content({}, pointer_to(at, name), value);
        } else {
          all(fixed(), pointer_to(at, name), value);
        }
      }
    }
  }

  // A text, or blocks.
  void content(const Source& source, const std::string& path, const json::value& value) {
    if (value.is_object()) return block(source, path, value);
    if (!value.is_array()) return all(source, path, value);
    std::size_t index = 0;
    for (const json::value& element : value.get_array()) {
      block(source, pointer_to(path, index++), element);
    }
  }

  void block(const Source& source, const std::string& path, const json::value& block) {
    const json::object* const members = block.if_object();
    if (members == nullptr) return all(source, path, block);
    const std::string_view type = text_in(block, "type");
    if (type.ends_with("tool_result")) return result(path, block, type);
    if (type == "image" || type == "document") ++request_.media_parts;
    if (type.ends_with("tool_use")) note_call(block, type);
    if (type == "redacted_thinking" || !text_in(block, "signature").empty() ||
        !text_in(block, "encrypted_content").empty()) {
      request_.has_signed_blocks = true;
    }
    for (const auto& [name, value] : *members) {
      block_member(source, block, type, name, pointer_to(path, name), value);
    }
  }

  void block_member(const Source& source, const json::value& block, std::string_view type,
                    std::string_view name, const std::string& path, const json::value& value) {
    if (value.is_string() && is_opaque(name, block.get_object())) {
      if (value.get_string().empty()) return all(fixed(), path, value);
      return unread(path, name == "signature" ? "signature" : "encrypted");
    }
    if (name == "type" || name == "cache_control") return all(fixed(), path, value);
    if (name == "source" && value.is_object()) return source_of(source, type, path, value);
    if (name == "file_id" && value.is_string()) return file(source, path, value);
    if (name == "citations" && value.is_array()) return citations(source, path, value.get_array());
    if (name == "content" && (type == "search_result" || type == "web_fetch_result" ||
                              source.kind == Leaf::Kind::ToolOutput)) {
      return content(source, path, value);
    }
    if (source.kind == Leaf::Kind::ToolOutput) return all(source, path, value);
    if (type == "tool_addition" && name == "tool") return added_tool(path, value);
    all(is_text(block, type, name) ? source : fixed(), path, value);
  }

  static bool is_text(const json::value& block, std::string_view type, std::string_view name) {
    const bool is_signed = !text_in(block, "signature").empty();
    if (type == "text") return name == "text";
    if (type == "thinking") return name == "thinking" && !is_signed;
    if (type == "compaction") return name == "content" && !is_signed;
    if (type == "document" || type == "search_result") return name == "title" || name == "context";
    return type.ends_with("tool_use") && name == "input";
  }

  // Reads the source of an image or a document.
  void source_of(const Source& source, std::string_view type, const std::string& path,
                 const json::value& value) {
    const std::string_view kind = text_in(value, "type");
    for (const auto& [name, member] : value.get_object()) {
      const std::string below = pointer_to(path, name);
      if (name == "data" && member.is_string() && kind == "text") {
        leaf(source, below, member.get_string());
      } else if (name == "data" && member.is_string()) {
        unread(below, type == "image" ? "image" : "document");
      } else if (name == "url" && member.is_string()) {
        unread(below, "url");
      } else if (name == "file_id" && member.is_string()) {
        file(source, below, member);
      } else if (name == "content") {
        content(source, below, member);
      } else {
        all(fixed(), below, member);
      }
    }
  }

  void citations(const Source& source, const std::string& path, const json::array& list) {
    std::size_t index = 0;
    for (const json::value& entry : list) {
      const std::string at = pointer_to(path, index++);
      const json::object* const members = entry.if_object();
      if (members == nullptr) {
        all(fixed(), at, entry);
        continue;
      }
      for (const auto& [name, value] : *members) {
        const std::string below = pointer_to(at, name);
        if (value.is_string() && is_opaque(name, *members)) {
          unread(below, "encrypted");
        } else if (name == "file_id" && value.is_string()) {
          unread(below, "file");
        } else {
          const bool text = name == "cited_text" || name == "title" || name == "document_title";
          all(text ? source : fixed(), below, value);
        }
      }
    }
  }

  void note_call(const json::value& block, std::string_view type) {
    const std::string id(text_in(block, "id"));
    tools_[id] = text_in(block, "name");
    if (type == "tool_use") request_.call_ids.push_back(id);
  }

  // Reads a result of a client tool (`tool_result`) or of a tool that the provider runs.
  void result(const std::string& path, const json::value& block, std::string_view type) {
    Source source{.kind = Leaf::Kind::ToolOutput,
                  .tool_call_id = std::string(text_in(block, "tool_use_id")),
                  .repeated = type != "tool_result"};
    const auto known = tools_.find(source.tool_call_id);
    if (known != tools_.end()) source.tool = known->second;
    for (const auto& [name, value] : block.get_object()) {
      const std::string below = pointer_to(path, name);
      if (name == "content") {
        content(source, below, value);
      } else {
        all(fixed(), below, value);
      }
    }
    const json::value* const held = member_of(block, "content");
    request_.returns.push_back(
        {.path = path,
         .tool_call_id = source.tool_call_id,
         .tool = source.tool,
         .is_error = flag_in(block, "is_error") ||
                     (held != nullptr && text_in(*held, "type") == std::string(type) + "_error"),
         .content = held == nullptr ? json::value() : *held});
  }

  void tools(const std::string& path, const json::array& list) {
    std::size_t index = 0;
    for (const json::value& entry : list) {
      const std::string at = pointer_to(path, index++);
      tool(at, entry);
      note_provider_tool(at, entry);
    }
  }

  void added_tool(const std::string& path, const json::value& added) {
    tool(path, added);
    const json::value* const definition = member_of(added, "definition");
    if (definition != nullptr) note_provider_tool(pointer_to(path, "definition"), *definition);
  }

  static bool runs_at_provider(std::string_view type) {
    for (const std::string_view client :
         {"bash_", "text_editor_", "computer_", "memory_", "browser_"}) {
      if (type.starts_with(client)) return false;
    }
    return !type.empty() && type != "custom";
  }

  void note_provider_tool(const std::string& path, const json::value& tool) {
    const std::string_view type = text_in(tool, "type");
    if (!runs_at_provider(type)) return;
    std::string_view name = text_in(tool, "name");
    if (name.empty()) name = text_in(tool, "mcp_server_name");
    request_.provider_tools.push_back(
        {.path = path, .type = std::string(type), .name = std::string(name.empty() ? type : name)});
  }

  void servers(const std::string& path, const json::array& list) {
    std::size_t index = 0;
    for (const json::value& server : list) {
      request_.provider_tools.push_back({.path = pointer_to(path, index++),
                                         .type = "mcp_servers",
                                         .name = std::string(text_in(server, "name"))});
    }
  }
};

}  // namespace

Result<Request> read_anthropic_request(RequestKind kind, const json::value& body) {
  SALLYPORT_TRY(std::string model, model_in(body));
  Request request{.kind = kind, .model = std::move(model)};
  request.stream = flag_in(body, "stream");
  request.output_limit = count_in(body, "max_tokens");
  const json::value* const config = member_of(body, "output_config");
  const json::object* const format = config == nullptr ? nullptr : object_in(*config, "format");
  request.json_format = format != nullptr || object_in(body, "output_format") != nullptr;
  AnthropicReader(request).read(body.get_object());
  return request;
}

void withhold_anthropic(Splice& splice, const ToolReturn& result, std::string_view notice,
                        const json::value& body) {
  boost::system::error_code error;
  const json::value* const block = body.find_pointer(result.path, error);
  if (block == nullptr || !block->is_object()) return;
  const std::string type(text_in(*block, "type"));
  if (type == "tool_result" || type == "mcp_tool_result") {
    set_member(splice, *block, result.path, "content", json_string(notice));
    set_member(splice, *block, result.path, "is_error", "true");
  } else {
    // Results of the provider's own tools have no place for a text, only for an error kind. The
    // notice is a text block after the result (MP-30).
    json::object refused = block->get_object();
    refused["content"] = json::object{{"type", type + "_error"}, {"error_code", "unavailable"}};
    const json::object text{{"type", "text"}, {"text", notice}};
    splice.replace(result.path, json::serialize(refused) + "," + json::serialize(text));
  }
}

}  // namespace sallyport::llm
