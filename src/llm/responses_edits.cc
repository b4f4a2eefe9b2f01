#include <boost/json.hpp>

#include "llm/responses_items.h"
#include "llm/responses_request.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

// A screenshot that shows nothing: results of `computer_call` have no place for a text.
constexpr std::string_view kBlankScreen =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+"
    "kcQAAAABJRU5ErkJggg==";

json::object failed_command(std::string_view text) {
  return {{"stdout", ""}, {"stderr", text}, {"outcome", {{"type", "exit"}, {"exit_code", 1}}}};
}

json::object result_item(const UnansweredCall& call) {
  if (call.type == "custom_tool_call") {
    return {{"type", "custom_tool_call_output"}, {"call_id", call.id}, {"output", call.text}};
  }
  if (call.type == "computer_call") {
    return {{"type", "computer_call_output"},
            {"call_id", call.id},
            {"output", {{"type", "computer_screenshot"}, {"image_url", kBlankScreen}}}};
  }
  if (call.type == "local_shell_call") {
    return {{"type", "local_shell_call_output"},
            {"id", call.id},
            {"output", json::serialize(json::object{{"output", call.text}})}};
  }
  if (call.type == "shell_call") {
    return {{"type", "shell_call_output"},
            {"call_id", call.id},
            {"output", json::array{failed_command(call.text)}}};
  }
  if (call.type == "apply_patch_call") {
    return {{"type", "apply_patch_call_output"},
            {"call_id", call.id},
            {"status", "failed"},
            {"output", call.text}};
  }
  if (call.type == "mcp_approval_request") {
    return {{"type", "mcp_approval_response"},
            {"approval_request_id", call.id},
            {"approve", false},
            {"reason", call.text}};
  }
  if (call.type == "tool_search_call") {
    return {{"type", "tool_search_output"},
            {"call_id", call.id},
            {"execution", "client"},
            {"status", "completed"},
            {"tools", json::array()}};
  }
  return {{"type", "function_call_output"}, {"call_id", call.id}, {"output", call.text}};
}

}  // namespace

void withhold_responses(Splice& splice, const ToolReturn& result, std::string_view notice,
                        const json::value& body) {
  boost::system::error_code error;
  const json::value* const item = body.find_pointer(result.path, error);
  if (item == nullptr || !item->is_object()) return;
  const std::string_view type = item_type(*item);
  std::string_view member = "output";
  std::string value = json_string(notice);
  if (type == "shell_call_output") {
    value = json::serialize(json::array{failed_command(notice)});
  } else if (type == "computer_call_output") {
    value =
        json::serialize(json::object{{"type", "computer_screenshot"}, {"image_url", kBlankScreen}});
  } else if (type == "program_output") {
    member = "result";
  } else if (type == "tool_search_output") {
    member = "tools";
    value = "[]";
  } else if (type == "code_interpreter_call") {
    member = "outputs";
    value = json::serialize(json::array{json::object{{"type", "logs"}, {"logs", notice}}});
  } else if (type == "file_search_call") {
    member = "results";
    value = json::serialize(json::array{json::object{{"text", notice}}});
  }
  for (const auto& [name, field] : item->get_object()) {
    const std::string pointer = pointer_to(result.path, name);
    if (name == member) {
      splice.replace(pointer, value);
    } else if (name == "error" && !field.is_null()) {
      splice.replace(pointer, "null");
    } else if (name == "status" && type == "apply_patch_call_output") {
      splice.replace(pointer, "\"failed\"");
    }
  }
  if (member_of(*item, member) == nullptr) {
    splice.append(result.path, json_string(member) + ":" + value);
  }
}

void answer_calls(Splice& splice, const std::vector<UnansweredCall>& calls,
                  const json::value& body) {
  if (calls.empty()) return;
  std::string items;
  for (const UnansweredCall& call : calls) {
    if (!items.empty()) items += ',';
    items += json::serialize(result_item(call));
  }
  const json::value* const input = member_of(body, "input");
  if (input == nullptr) return splice.append("", "\"input\":[" + items + "]");
  if (input->is_array()) return splice.append("/input", items);
  if (!input->is_string()) return splice.replace("/input", "[" + items + "]");
  // The text stays where it is, so that a redaction finds it.
  splice.wrap("/input", "[" + items + R"(,{"role":"user","content":)", "}]");
}

}  // namespace sallyport::llm
