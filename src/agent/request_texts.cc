#include "agent/request_texts.h"

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

  CheckedTexts out;

 private:
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
