#include "agent/run/request_texts.h"

#include <boost/json.hpp>
#include <iterator>

#include "llm/wire_json.h"

namespace sallyport::agent {

namespace {

class TextCheck {
 public:
  explicit TextCheck(const core::StreamGuard* guard) : guard_(guard) {}

  // Redacts `text`. A value: it is blocked, and unchanged.
  std::optional<core::TextBlock> look_at(std::string& text) {
    out.bytes += text.size();
    if (guard_ == nullptr || out.block || text.empty()) return std::nullopt;
    core::PassedText passed = guard_->look_at(core::TextStage::Input, text, std::nullopt);
    std::ranges::move(passed.findings, std::back_inserter(out.findings));
    if (passed.block) return std::move(passed.block);
    if (passed.changed()) {
      text = passed.text();
      ++out.changes;
    }
    return std::nullopt;
  }

  // The request must not be sent if this text is blocked.
  void require(std::string& text) {
    if (std::optional<core::TextBlock> block = look_at(text)) out.block = std::move(block);
  }

  // If the text is blocked, the notice takes its place.
  void replace(std::string& text) {
    const std::optional<core::TextBlock> block = look_at(text);
    if (!block) return;
    text = block->notice;
    ++out.changes;
  }

  // False: the model must not read what the server says of this tool.
  bool look_at(OfferedTool& tool) {
    if (guard_ == nullptr || tool.server.empty()) return true;
    core::PassedText whole = passed(tool, tool_text(tool));
    std::ranges::move(whole.findings, std::back_inserter(out.tool_findings));
    if (whole.block) return false;
    if (!whole.changed()) return true;
    redact(tool, tool.description);
    for (json::key_value_pair& member : tool.schema) redact_in(tool, member.value());
    ++out.changes;
    // A match in a member name or across two texts is not redacted yet.
    const core::PassedText again = passed(tool, tool_text(tool));
    return !again.block && !again.changed();
  }

  CheckedTexts out;

 private:
  static std::string tool_text(const OfferedTool& tool) {
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

// The place of the newest text of a person. The end: there is none.
std::size_t prompt_in(const std::vector<sessions::Item>& history) {
  for (std::size_t i = history.size(); i > 0; --i) {
    if (history[i - 1].role != sessions::Role::User) continue;
    for (const json::value& block : history[i - 1].content) {
      if (llm::text_in(block, "type") == "text") return i - 1;
    }
  }
  return history.size();
}

}  // namespace

CheckedTexts check_texts(ModelRequest& request, const core::StreamGuard* guard) {
  TextCheck check(guard);
  check.require(request.system);
  if (check.look_at(request.recalled)) {
    request.recalled.clear();
    check.out.recall_withheld = true;
  }
  const std::size_t prompt = prompt_in(request.history);
  for (std::size_t i = 0; i < request.history.size(); ++i) {
    sessions::Item& item = request.history[i];
    const bool of_person = item.role == sessions::Role::User;
    const bool checked = of_person || item.role == sessions::Role::System;
    for (json::value& block : item.content) {
      std::string text(llm::text_in(block, "text"));
      if (checked && !text.empty()) {
        if (of_person && i != prompt) {
          check.replace(text);
        } else {
          check.require(text);
        }
        block.as_object()["text"] = text;
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
