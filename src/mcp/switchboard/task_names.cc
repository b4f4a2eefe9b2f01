#include "mcp/switchboard/task_names.h"

#include <functional>
#include <vector>

#include "mcp/message/json_text.h"
#include "mcp/switchboard/merged_answers.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kRelated = "io.modelcontextprotocol/related-task";

using Rename = std::function<std::string(std::string_view id)>;

// Collects edits of ids in one message.
class Renaming {
 public:
  Renaming(std::string_view text, Rename rename) : text_(text), rename_(std::move(rename)) {}

  void at(std::initializer_list<std::string_view> path) {
    const auto part = find(text_, path);
    const Result<ParsedJson> read = parse_json(part.value_or("null"));
    if (!read || !read->value.is_string()) return;
    std::string renamed;
    append_canonical_string(renamed, rename_(read->value.get_string()));
    edits_.push_back({*part, std::move(renamed)});
  }
  std::string text() { return edited(text_, std::move(edits_)); }

 private:
  std::string_view text_;
  Rename rename_;
  std::vector<Edit> edits_;
};

bool gives_task(const Message& response, std::string_view method) {
  return method != "tools/call" || find(response.text, {"result", "resultType"}) == "\"task\"";
}

}  // namespace

std::string with_task_names(const Message& message, std::string_view method,
                            std::string_view server) {
  Renaming ids(message.text, [&](std::string_view id) { return qualified(server, id); });
  switch (message.kind) {
    case Message::Kind::Response:
      ids.at({"result", "_meta", kRelated, "taskId"});
      if (method != "tools/call" && !method.starts_with("tasks/")) break;
      if (gives_task(message, method)) ids.at({"result", "taskId"});
      // The result of a tool is not changed, whatever its members are called.
      if (!find(message.text, {"result", "content"})) ids.at({"result", "task", "taskId"});
      break;
    case Message::Kind::Notification:
      ids.at({"params", "_meta", kRelated, "taskId"});
      if (message.method.starts_with("notifications/tasks")) ids.at({"params", "taskId"});
      break;
    case Message::Kind::Request:
      // A question about the client's own task uses the client's id.
      ids.at({"params", "_meta", kRelated, "taskId"});
      break;
  }
  return ids.text();
}

std::string with_own_task(std::string_view request, std::string_view id) {
  Renaming ids(request, [&](std::string_view) { return std::string(id); });
  ids.at({"params", "taskId"});
  return ids.text();
}

std::string without_task_names(const Message& response, std::string_view server) {
  Renaming ids(response.text, [&](std::string_view id) {
    const std::string prefix = qualified(server, "");
    return std::string(id.starts_with(prefix) ? id.substr(prefix.size()) : id);
  });
  ids.at({"result", "_meta", kRelated, "taskId"});
  return ids.text();
}

}  // namespace sallyport::mcp
