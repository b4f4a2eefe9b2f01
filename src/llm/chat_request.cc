#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "llm/request_reader.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

class ChatReader : public RequestReader {
 public:
  using RequestReader::RequestReader;

  void read(const json::object& body) {
    for (const auto& [name, value] : body) member(name, pointer_to("", name), value);
  }

 private:
  void member(std::string_view name, const std::string& path, const json::value& value) {
    if (name == "messages" && value.is_array()) return messages(path, value.get_array());
    if (name == "input" && request_.kind == RequestKind::Embeddings) return all({}, path, value);
    if (name == "tools" && value.is_array()) return tools(path, value.get_array());
    if (name == "functions") return tool(path, value);
    if (name == "web_search_options") {
      request_.provider_tools.push_back({.path = path, .type = "web_search", .name = "web_search"});
    }
    all(fixed(), path, value);
  }

  void messages(const std::string& path, const json::array& list) {
    std::size_t index = 0;
    for (const json::value& message : list) {
      const std::string at = pointer_to(path, index++);
      if (message.is_object()) {
        read_message(at, message);
      } else {
        all(fixed(), at, message);
      }
    }
  }

  void read_message(const std::string& path, const json::value& message) {
    const std::string_view role = text_in(message, "role");
    Source source;
    if (role == "tool" || role == "function") {
      source.kind = Leaf::Kind::ToolOutput;
      source.tool_call_id = text_in(message, "tool_call_id");
      const auto known = tools_.find(source.tool_call_id);
      if (role == "function") {
        source.tool = text_in(message, "name");
      } else if (known != tools_.end()) {
        source.tool = known->second;
      }
      const json::value* const content = member_of(message, "content");
      request_.returns.push_back({.path = path,
                                  .tool_call_id = source.tool_call_id,
                                  .tool = source.tool,
                                  .content = content == nullptr ? json::value() : *content});
    }
    for (const auto& [name, value] : message.get_object()) {
      message_member(source, name, pointer_to(path, name), value);
    }
  }

  void message_member(const Source& source, std::string_view name, const std::string& path,
                      const json::value& value) {
    if (name == "content" && value.is_array()) {
      std::size_t index = 0;
      for (const json::value& element : value.get_array()) {
        part(source, pointer_to(path, index++), element);
      }
    } else if (name == "content" || name == "refusal" || name == "reasoning_content" ||
               name == "reasoning") {
      all(source, path, value);
    } else if (name == "tool_calls" && value.is_array()) {
      std::size_t index = 0;
      for (const json::value& element : value.get_array()) call(pointer_to(path, index++), element);
    } else if (name == "function_call") {
      function(path, value);
    } else if (name == "audio" && !text_in(value, "id").empty()) {
      unread(pointer_to(path, "id"), "audio");
      all_but(path, value, "id");
    } else {
      all(fixed(), path, value);
    }
  }

  void all_but(const std::string& path, const json::value& object, std::string_view member) {
    for (const auto& [name, value] : object.get_object()) {
      if (name != member) all(fixed(), pointer_to(path, name), value);
    }
  }

  void call(const std::string& path, const json::value& call) {
    const std::string id(text_in(call, "id"));
    if (!id.empty()) request_.call_ids.push_back(id);
    if (!call.is_object()) return all(fixed(), path, call);
    for (const auto& [name, value] : call.get_object()) {
      const std::string below = pointer_to(path, name);
      if (name == "function" || name == "custom") {
        tools_[id] = text_in(value, "name");
        function(below, value);
      } else {
        all(fixed(), below, value);
      }
    }
  }

  // Name and arguments.
  void function(const std::string& path, const json::value& function) {
    if (!function.is_object()) return all(fixed(), path, function);
    for (const auto& [name, value] : function.get_object()) {
      all(name == "arguments" || name == "input" ? Source() : fixed(), pointer_to(path, name),
          value);
    }
  }

  void part(const Source& source, const std::string& path, const json::value& part) {
    const json::object* const members = part.if_object();
    if (members == nullptr) return all(source, path, part);
    const std::string_view type = text_in(part, "type");
    if (type == "image_url" || type == "file") ++request_.media_parts;
    for (const auto& [name, value] : *members) {
      const std::string below = pointer_to(path, name);
      if (name == "text" || name == "refusal") {
        all(source, below, value);
      } else if (value.is_object() &&
                 (name == "image_url" || name == "input_audio" || name == "file")) {
        for (const auto& [inner, medium] : value.get_object()) {
          media(source, name, inner, pointer_to(below, inner), medium);
        }
      } else if (value.is_string() && !medium_of(name).empty()) {
        unread(below, medium_of(name));  // some servers read this form
      } else {
        all(fixed(), below, value);
      }
    }
  }

  static std::string_view medium_of(std::string_view name) {
    if (name == "image_url") return "image";
    if (name == "input_audio") return "audio";
    return name == "file" ? "document" : "";
  }

  void media(const Source& source, std::string_view kind, std::string_view name,
             const std::string& path, const json::value& value) {
    if (!value.is_string()) return all(fixed(), path, value);
    if (kind == "image_url" && name == "url") return unread(path, "image");
    if (kind == "input_audio" && name == "data") return unread(path, "audio");
    if (kind == "file" && name == "file_data") return unread(path, "document");
    if (kind == "file" && name == "file_id") return file(source, path, value);
    all(fixed(), path, value);
  }

  void tools(const std::string& path, const json::array& list) {
    std::size_t index = 0;
    for (const json::value& entry : list) {
      const std::string at = pointer_to(path, index++);
      tool(at, entry);
      const std::string_view type = text_in(entry, "type");
      if (type.empty() || type == "function" || type == "custom") continue;
      const std::string_view name = text_in(entry, "name");
      request_.provider_tools.push_back(
          {.path = at, .type = std::string(type), .name = std::string(name.empty() ? type : name)});
    }
  }
};

std::uint64_t numbers_in(const json::value& value) {
  const json::array* const list = value.if_array();
  if (list == nullptr) return value.is_number() ? 1 : 0;
  std::uint64_t numbers = 0;
  for (const json::value& element : *list) numbers += numbers_in(element);
  return numbers;
}

bool asks_chat_audio(const json::value& body) {
  const json::array* const modalities = array_in(body, "modalities");
  if (modalities == nullptr) return false;
  for (const json::value& modality : *modalities) {
    if (modality == "audio") return true;
  }
  return false;
}

}  // namespace

Result<Request> read_chat_request(RequestKind kind, const json::value& body) {
  SALLYPORT_TRY(std::string model, model_in(body));
  Request request{.kind = kind, .model = std::move(model)};
  request.stream = flag_in(body, "stream");
  request.audio = asks_chat_audio(body);
  const json::value* const options = member_of(body, "stream_options");
  request.asks_usage = options != nullptr && flag_in(*options, "include_usage");
  if (const json::value* const format = member_of(body, "response_format")) {
    const std::string_view type = text_in(*format, "type");
    request.json_format = type == "json_schema" || type == "json_object";
  }
  const json::value* const store = member_of(body, "store");
  if (store != nullptr && store->is_bool()) request.store = store->get_bool();
  if (const json::value* const choices = member_of(body, "n"); choices && !choices->is_null()) {
    // Some servers read other forms, such as "3", and the budget must count what they make.
    const auto count = count_in(body, "n");
    if (!count) return fail(ErrorCode::InvalidInput, "`n` is not a whole number", "n");
    request.choices = std::max<std::uint64_t>(*count, 1);
  }
  request.output_limit = count_in(body, "max_completion_tokens");
  if (!request.output_limit) request.output_limit = count_in(body, "max_tokens");
  const json::value* const input = member_of(body, "input");
  if (kind == RequestKind::Embeddings && input) request.token_numbers = numbers_in(*input);
  ChatReader(request).read(body.get_object());
  return request;
}

void withhold_chat(Splice& splice, const ToolReturn& result, std::string_view notice,
                   const json::value& body) {
  boost::system::error_code error;
  const json::value* const message = body.find_pointer(result.path, error);
  if (message == nullptr || !message->is_object()) return;
  set_member(splice, *message, result.path, "content", json_string(notice));
}

}  // namespace sallyport::llm
