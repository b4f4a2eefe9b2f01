#include "llm/responses_request.h"

#include <boost/json.hpp>
#include <map>

#include "llm/responses_items.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

using LeafKind = Leaf::Kind;

// The text of a tool's result, and of which call.
struct ResultOf {
  std::string id;
  std::string tool;
  bool repeated = false;  // the provider made it
};

// One pass over a body. Every string is added to `leaves` or to `unread`.
class ResponsesReader {
 public:
  explicit ResponsesReader(Request& request) : request_(request) {}

  void read(const json::object& body) {
    if (const json::value* const input = body.if_contains("input"); input && input->is_array()) {
      for (const json::value& item : input->get_array()) remember_call(item);
    }
    for (const auto& [name, value] : body) member(name, pointer_to("", name), value);
  }

 private:
  void leaf(LeafKind kind, std::string path, std::string_view text, const ResultOf* of = nullptr) {
    Leaf made{.path = std::move(path), .text = std::string(text), .kind = kind};
    if (of != nullptr) {
      made.tool_call_id = of->id;
      made.tool = of->tool;
    }
    request_.leaves.push_back(std::move(made));
  }

  void unread(std::string path, std::string_view kind) {
    request_.unread.push_back({.path = std::move(path), .kind = std::string(kind)});
  }

  void state(std::string path, std::string_view kind, const json::value& id) {
    if (!id.is_string()) return;
    request_.state.push_back(
        {.path = std::move(path), .kind = std::string(kind), .id = std::string(id.get_string())});
  }

  // Every string below `value`.
  void all(LeafKind kind, const std::string& path, const json::value& value,
           const ResultOf* of = nullptr) {
    if (value.is_string()) {
      leaf(kind, path, value.get_string(), of);
    } else if (value.is_array()) {
      std::size_t index = 0;
      for (const json::value& element : value.get_array())
        all(kind, pointer_to(path, index++), element, of);
    } else if (value.is_object()) {
      for (const auto& [name, child] : value.get_object()) {
        const std::string below = pointer_to(path, name);
        if (kind != LeafKind::ToolOutput) {
          request_.names.push_back(
              {.path = below, .text = std::string(name), .kind = LeafKind::Fixed});
        }
        all(kind, below, child, of);
      }
    }
  }

  void remember_call(const json::value& item) {
    const std::string_view type = item_type(item);
    if (!type.ends_with("_call") && type != "program" && type != "mcp_approval_request") return;
    const std::string tool = tool_of(item);
    for (const std::string_view name : {"call_id", "id"}) {
      const std::string_view id = text_in(item, name);
      if (!id.empty()) tools_.emplace(id, tool);
    }
    if (is_client_call(item)) request_.call_ids.push_back(call_id_of(item));
  }

  void member(std::string_view name, const std::string& path, const json::value& value) {
    if (name == "input") return input(path, value);
    if (name == "instructions") return all(LeafKind::Input, path, value);
    if (name == "tools") return tools(path, value);
    if (name == "prompt") return prompt(path, value);
    if (name == "previous_response_id") {
      state(path, "response", value);
    } else if (name == "conversation") {
      const json::value* const id = member_of(value, "id");
      state(id ? pointer_to(path, "id") : path, "conversation", id ? *id : value);
    }
    all(LeafKind::Fixed, path, value);
  }

  void prompt(const std::string& path, const json::value& value) {
    if (!value.is_object()) return all(LeafKind::Fixed, path, value);
    for (const auto& [name, child] : value.get_object()) {
      const std::string below = pointer_to(path, name);
      if (name == "id" && child.is_string()) {
        unread(below, "prompt");
      } else if (name == "variables" && child.is_object()) {
        for (const auto& [variable, given] : child.get_object()) {
          const std::string at = pointer_to(below, variable);
          if (given.is_object()) {
            part(at, given, LeafKind::Input, nullptr);
          } else {
            all(LeafKind::Input, at, given);
          }
        }
      } else {
        all(LeafKind::Fixed, below, child);
      }
    }
  }

  void input(const std::string& path, const json::value& value) {
    if (!value.is_array()) return all(LeafKind::Input, path, value);
    std::size_t index = 0;
    for (const json::value& element : value.get_array()) item(pointer_to(path, index++), element);
  }

  void item(const std::string& path, const json::value& item) {
    if (!item.is_object()) return all(LeafKind::Fixed, path, item);
    const std::string_view type = item_type(item);
    // A generated image without its bytes is one that the provider keeps.
    const bool kept = type == "image_generation_call" && text_in(item, "result").empty();
    if (type == "item_reference" || kept) {
      if (const json::value* const id = member_of(item, "id")) {
        state(pointer_to(path, "id"), "item", *id);
      }
    }
    if (type.ends_with("_output")) return result(path, item);
    for (const auto& [name, value] : item.get_object()) {
      item_member(type, item, name, pointer_to(path, name), value);
    }
    if (holds_result(type)) add_return(path, item, result_member(type));
  }

  // Calls of the provider that carry their own result.
  static bool holds_result(std::string_view type) {
    return type == "mcp_call" || type == "code_interpreter_call" || type == "file_search_call";
  }

  static std::string_view result_member(std::string_view type) {
    if (type == "code_interpreter_call") return "outputs";
    if (type == "file_search_call") return "results";
    if (type == "program_output") return "result";
    if (type == "tool_search_output") return "tools";
    return "output";
  }

  static bool is_name(std::string_view name) {
    return name == "type" || name == "id" || name == "call_id" || name == "status" ||
           name == "name" || name == "namespace" || name == "role" || name == "server_label" ||
           name == "execution" || name == "approval_request_id" || name == "container_id" ||
           name == "phase" || name == "caller" || name == "created_by" || name == "environment";
  }

  void item_member(std::string_view type, const json::value& item, std::string_view name,
                   const std::string& path, const json::value& value) {
    if (name == "encrypted_content" || name == "fingerprint") {
      if (!value.is_string()) return all(LeafKind::Fixed, path, value);
      request_.has_signed_blocks = request_.has_signed_blocks || name == "encrypted_content";
      return unread(path, name == "fingerprint" ? "signature" : "encrypted");
    }
    if (type == "message" && name == "content") return contents(path, value);
    if ((type == "additional_tools" || type == "mcp_list_tools") && name == "tools") {
      return tools(path, value, type == "additional_tools");
    }
    if (type == "image_generation_call" && name == "result") {
      return value.is_string() ? unread(path, "image") : all(LeafKind::Fixed, path, value);
    }
    if (holds_result(type) && (name == result_member(type) || name == "error")) {
      const ResultOf of{.id = call_id_of(item), .tool = tool_of(item), .repeated = true};
      return result_value(path, value, of);
    }
    const bool call =
        type.ends_with("_call") || type == "mcp_approval_request" || type == "program";
    all(call && !is_name(name) ? LeafKind::Input : LeafKind::Fixed, path, value);
  }

  void contents(const std::string& path, const json::value& value) {
    if (!value.is_array()) return all(LeafKind::Input, path, value);
    std::size_t index = 0;
    for (const json::value& element : value.get_array()) {
      part(pointer_to(path, index++), element, LeafKind::Input, nullptr);
    }
  }

  // A part of a message or of a result.
  void part(const std::string& path, const json::value& part, LeafKind kind, const ResultOf* of) {
    if (!part.is_object()) return all(kind, path, part, of);
    const std::string_view type = text_in(part, "type");
    const bool media = type == "input_image" || type == "computer_screenshot";
    if (media || type == "input_file") ++request_.media_parts;
    for (const auto& [name, value] : part.get_object()) {
      const std::string below = pointer_to(path, name);
      const bool repeated = of != nullptr && of->repeated;
      if (value.is_string() && unread_member(below, name, value, media, repeated)) continue;
      if (name == "text" || name == "refusal" || name == "logs" || name == "stdout" ||
          name == "stderr" || name == "attributes") {
        all(kind, below, value, of);
      } else if (name == "annotations" && value.is_array()) {
        annotations(below, value.get_array());
      } else if (name == "input_audio" && value.is_object()) {
        audio(below, value.get_object());
      } else if (of != nullptr && name != "type") {
        all(kind, below, value, of);
      } else {
        all(LeafKind::Fixed, below, value);
      }
    }
  }

  void audio(const std::string& path, const json::object& audio) {
    for (const auto& [name, value] : audio) {
      if (name == "data" && value.is_string()) {
        unread(pointer_to(path, name), "audio");
      } else {
        all(LeafKind::Fixed, pointer_to(path, name), value);
      }
    }
  }

  bool unread_member(const std::string& path, std::string_view name, const json::value& value,
                     bool image, bool repeated) {
    if (name == "image_url") {
      unread(path, "image");
    } else if (name == "file_data") {
      unread(path, "document");
    } else if (name == "file_url" || (name == "url" && image)) {
      unread(path, "url");
    } else if (name == "file_id") {
      unread(path, image ? "image" : "file");
      if (!repeated) state(path, "file", value);
    } else {
      return false;
    }
    return true;
  }

  void annotations(const std::string& path, const json::array& list) {
    std::size_t index = 0;
    for (const json::value& entry : list) {
      const std::string at = pointer_to(path, index++);
      if (!entry.is_object()) {
        all(LeafKind::Fixed, at, entry);
        continue;
      }
      for (const auto& [name, value] : entry.get_object()) {
        const std::string below = pointer_to(at, name);
        if (name == "file_id" && value.is_string()) {
          unread(below, "file");
        } else {
          all(name == "title" || name == "filename" ? LeafKind::Input : LeafKind::Fixed, below,
              value);
        }
      }
    }
  }

  // An item that is the result of a call.
  void result(const std::string& path, const json::value& item) {
    const std::string_view type = item_type(item);
    const std::string_view holds = result_member(type);
    ResultOf of{.id = call_id_of(item), .tool = {}};
    const auto known = tools_.find(of.id);
    if (known != tools_.end()) of.tool = known->second;
    for (const auto& [name, value] : item.get_object()) {
      const std::string below = pointer_to(path, name);
      if (name == holds) {
        result_value(below, value, of);
      } else if (is_name(name) || name == "acknowledged_safety_checks") {
        all(LeafKind::Fixed, below, value);
      } else {
        all(LeafKind::ToolOutput, below, value, &of);
      }
    }
    add_return(path, item, holds, of);
  }

  // Strings of a result, media among them.
  void result_value(const std::string& path, const json::value& value, const ResultOf& of) {
    if (value.is_array()) {
      std::size_t index = 0;
      for (const json::value& element : value.get_array()) {
        part(pointer_to(path, index++), element, LeafKind::ToolOutput, &of);
      }
    } else if (value.is_object()) {
      part(path, value, LeafKind::ToolOutput, &of);
    } else {
      all(LeafKind::ToolOutput, path, value, &of);
    }
  }

  void add_return(const std::string& path, const json::value& item, std::string_view holds) {
    add_return(path, item, holds, {.id = call_id_of(item), .tool = tool_of(item)});
  }

  void add_return(const std::string& path, const json::value& item, std::string_view holds,
                  const ResultOf& of) {
    const json::value* const content = member_of(item, holds);
    const json::value* const error = member_of(item, "error");
    if (holds_result(item_type(item)) && (content == nullptr || content->is_null()) &&
        (error == nullptr || error->is_null())) {
      return;  // no result yet
    }
    request_.returns.push_back(
        {.path = path,
         .tool_call_id = of.id,
         .tool = of.tool,
         .is_error = text_in(item, "status") == "failed" || (error != nullptr && !error->is_null()),
         .content = content ? *content : json::value(),
         .member = std::string(holds)});
  }

  void tools(const std::string& path, const json::value& value, bool runs = true) {
    if (!value.is_array()) return all(LeafKind::Fixed, path, value);
    std::size_t index = 0;
    for (const json::value& element : value.get_array()) {
      const std::string at = pointer_to(path, index++);
      descriptions(at, element);
      stores(at, element);
      if (runs) note_provider_tools(at, element);
    }
  }

  // Containers and vector stores that a tool uses.
  void stores(const std::string& path, const json::value& tool) {
    const auto add = [&](std::string_view kind, std::string_view id) {
      if (id.empty()) return;
      request_.stores.push_back({.path = path, .kind = std::string(kind), .id = std::string(id)});
    };
    add("container", text_in(tool, "container"));
    if (const json::value* const environment = member_of(tool, "environment")) {
      add("container", text_in(*environment, "container_id"));
    }
    const json::array* const ids = array_in(tool, "vector_store_ids");
    for (std::size_t i = 0; ids != nullptr && i < ids->size(); ++i) {
      if ((*ids)[i].is_string()) add("vector_store", (*ids)[i].get_string());
    }
  }

  // Also those inside a namespace.
  void note_provider_tools(const std::string& path, const json::value& tool) {
    if (!tool.is_object()) return;
    if (is_provider_tool(tool)) return add_provider_tool(path, tool);
    const json::array* const inner = array_in(tool, "tools");
    for (std::size_t i = 0; inner != nullptr && i < inner->size(); ++i) {
      note_provider_tools(pointer_to(pointer_to(path, "tools"), i), (*inner)[i]);
    }
  }

  // The model reads descriptions at any depth. The other strings of a tool are names.
  void descriptions(const std::string& path, const json::value& value) {
    if (value.is_array()) {
      std::size_t index = 0;
      for (const json::value& each : value.get_array())
        descriptions(pointer_to(path, index++), each);
    } else if (value.is_object()) {
      for (const auto& [name, child] : value.get_object()) {
        const std::string below = pointer_to(path, name);
        if (child.is_string()) {
          tool_text(below, name, child);
        } else if (name == "file_ids" && child.is_array()) {
          file_ids(below, child.get_array());
        } else {
          descriptions(below, child);
        }
      }
    } else {
      all(LeafKind::Fixed, path, value);
    }
  }

  void tool_text(const std::string& path, std::string_view name, const json::value& value) {
    if (name == "description" || name == "server_description") {
      leaf(LeafKind::Input, path, value.get_string());
    } else if (!unread_member(path, name, value, false, false)) {
      leaf(LeafKind::Fixed, path, value.get_string());
    }
  }

  void file_ids(const std::string& path, const json::array& ids) {
    std::size_t index = 0;
    for (const json::value& id : ids) {
      const std::string at = pointer_to(path, index++);
      if (!id.is_string()) {
        all(LeafKind::Fixed, at, id);
        continue;
      }
      unread(at, "file");
      state(at, "file", id);
    }
  }

  static bool is_provider_tool(const json::value& tool) {
    const std::string_view type = text_in(tool, "type");
    if (type == "function" || type == "custom" || type == "local_shell" || type == "computer" ||
        type == "computer_use_preview" || type == "apply_patch" || type == "namespace") {
      return false;
    }
    if (type == "tool_search") return text_in(tool, "execution") != "client";
    if (type != "shell") return true;
    const json::value* const environment = member_of(tool, "environment");
    return environment != nullptr && environment->is_object() &&
           text_in(*environment, "type") != "local";
  }

  void add_provider_tool(const std::string& path, const json::value& tool) {
    std::string_view name = text_in(tool, "server_label");
    if (name.empty()) name = text_in(tool, "name");
    if (name.empty()) name = text_in(tool, "type");
    request_.provider_tools.push_back(
        {.path = path, .type = std::string(text_in(tool, "type")), .name = std::string(name)});
  }

  Request& request_;
  std::map<std::string, std::string, std::less<>> tools_;  // of calls, by id
};

bool asks_response_audio(const json::object& body) {
  const json::value* const modalities = body.if_contains("modalities");
  if (modalities == nullptr || !modalities->is_array()) return false;
  for (const json::value& modality : modalities->get_array()) {
    if (modality == "audio") return true;
  }
  return false;
}

void read_response_settings(Request& request, const json::value& body) {
  const json::value* const stream = member_of(body, "stream");
  request.stream = stream != nullptr && stream->is_bool() && stream->get_bool();
  request.audio = asks_response_audio(body.get_object());
  if (const json::value* const store = member_of(body, "store"); store && store->is_bool()) {
    request.store = store->get_bool();
  }
  if (const json::value* const text = member_of(body, "text")) {
    if (const json::value* const format = member_of(*text, "format")) {
      const std::string_view type = text_in(*format, "type");
      request.json_format = type == "json_schema" || type == "json_object";
    }
  }
  request.output_limit = count_in(body, "max_output_tokens");
}

}  // namespace

Result<Request> read_responses_request(RequestKind kind, const json::value& body) {
  const std::string_view model = text_in(body, "model");
  if (model.empty()) {
    return fail(ErrorCode::InvalidInput, "`model` is missing or no text; name a model", "model");
  }
  Request request{.kind = kind, .model = std::string(model)};
  read_response_settings(request, body);
  ResponsesReader(request).read(body.get_object());
  return request;
}

}  // namespace sallyport::llm
