#include "agent/run/request_texts.h"

#include <boost/json.hpp>
#include <iterator>

#include "llm/wire_json.h"

namespace sallyport::agent {

namespace {

class TextCheck {
 public:
  explicit TextCheck(const core::StreamGuard* guard) : guard_(guard) {}

  // True: `text` was replaced.
  bool look_at(std::string& text) {
    out.bytes += text.size();
    if (guard_ == nullptr || out.block || text.empty()) return false;
    core::PassedText passed = guard_->look_at(core::TextStage::Input, text, std::nullopt);
    std::ranges::move(passed.findings, std::back_inserter(out.findings));
    if (passed.block) {
      out.block = std::move(passed.block);
      return false;
    }
    if (!passed.changed()) return false;
    text = passed.text();
    ++out.changes;
    return true;
  }

  // False: the model must not read what the server says of this tool.
  bool look_at(OfferedTool& tool) {
    if (guard_ == nullptr || tool.server.empty()) return true;
    core::PassedText whole = passed(tool, said_of(tool));
    std::ranges::move(whole.findings, std::back_inserter(out.tool_findings));
    if (whole.block) return false;
    if (!whole.changed()) return true;
    redact(tool, tool.description);
    for (json::key_value_pair& member : tool.schema) redact_in(tool, member.value());
    ++out.changes;
    // What stands in the name of a member, or reaches over two texts, is still there.
    const core::PassedText again = passed(tool, said_of(tool));
    return !again.block && !again.changed();
  }

  CheckedTexts out;

 private:
  static std::string said_of(const OfferedTool& tool) {
    return tool.description + "\n" + json::serialize(tool.schema);
  }

  core::PassedText passed(const OfferedTool& tool, std::string_view text) const {
    return guard_->look_at(core::TextStage::ToolOutput, text, tool.name);
  }

  void redact(const OfferedTool& tool, std::string& text) {
    const core::PassedText seen = passed(tool, text);
    if (seen.changed()) text = seen.text();
  }

  void redact_in(const OfferedTool& tool, json::value& value) {
    if (value.is_string()) {
      std::string text(value.get_string());
      redact(tool, text);
      value = text;
    } else if (value.is_array()) {
      for (json::value& item : value.get_array()) redact_in(tool, item);
    } else if (value.is_object()) {
      for (json::key_value_pair& member : value.get_object()) redact_in(tool, member.value());
    }
  }

  const core::StreamGuard* guard_;
};

}  // namespace

CheckedTexts check_texts(ModelRequest& request, const core::StreamGuard* guard) {
  TextCheck check(guard);
  check.look_at(request.system);
  check.look_at(request.recalled);
  for (sessions::Item& item : request.history) {
    for (json::value& block : item.content) {
      const bool said = item.role == sessions::Role::User || item.role == sessions::Role::System;
      std::string text(llm::text_in(block, "text"));
      if (said && !text.empty()) {
        if (check.look_at(text)) block.as_object()["text"] = text;
      } else {
        check.out.bytes += text.empty() ? json::serialize(block).size() : text.size();
      }
    }
  }
  std::erase_if(request.tools, [&](OfferedTool& tool) {
    const bool withheld = !check.look_at(tool);
    check.out.tools_withheld += withheld ? 1 : 0;
    return withheld;
  });
  return std::move(check.out);
}

std::string request_text(const ModelRequest& request) {
  json::array history;
  for (const sessions::Item& item : request.history) {
    history.push_back(json::object{
        {"role", sessions::to_string(item.role)},
        {"content", item.content},
        {"tool_call_id", item.tool_call_id ? json::value(*item.tool_call_id) : json::value()}});
  }
  json::array tools;
  for (const OfferedTool& tool : request.tools) tools.push_back(json::value(tool.name));
  return json::serialize(json::object{{"model", request.model},
                                      {"system", request.system},
                                      {"history", std::move(history)},
                                      {"recalled", request.recalled},
                                      {"tools", std::move(tools)}});
}

}  // namespace sallyport::agent
