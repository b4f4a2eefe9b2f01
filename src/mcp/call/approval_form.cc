#include "mcp/call/approval_form.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_for_people.h"
#include "base/json_members.h"
#include "base/visible_text.h"
#include "core/approval/hidden_parts.h"
#include "core/plan/rule_text.h"

namespace sallyport::mcp {

namespace {

std::string shown(const json::object& request, std::string_view name) {
  return visible(text_in(request, name).value_or(""));
}

std::string message(const json::object& request, const json::object& body) {
  const std::vector<core::HiddenPart> hidden = core::hidden_in(body.if_contains("hidden"));
  const json::value* const args = request.if_contains("args");
  const bool single = args != nullptr && args->is_array() && args->get_array().size() == 1;
  const json::value input = single ? args->get_array().front() : json::value();
  const std::string whole =
      fmt::format("`sallyport approvals show {} --full`", shown(request, "request_id"));
  std::string text = fmt::format("{}\n", visible(text_in(body, "description").value_or("")));
  text += fmt::format("tool: {}\n", with_lookalikes(shown(request, "tool_name")));
  text += fmt::format("server: {}\n", with_lookalikes(shown(request, "server")));
  const std::string folder = visible(text_in(body, "folder").value_or(""));
  if (!folder.empty()) text += fmt::format("folder: {}\n", with_lookalikes(folder));
  text += fmt::format("class: {}\n", shown(request, "action"));
  text += fmt::format("asked by: {}\n", shown(request, "agent_id"));
  for (const core::RuleLine& line : core::rule_lines(core::rules_in(&body))) {
    text += fmt::format("{}: {}\n", line.name, line.text);
  }
  text += fmt::format("input: {}\n",
                      with_lookalikes(json_in_lines(with_long_texts_cut(input, whole), 0)));
  for (const core::HiddenPart& part : hidden) {
    text += fmt::format("hidden: {}{}\n", visible(part.text()),
                        part.command ? "; it is part of a command" : "");
  }
  if (!hidden.empty()) {
    text += fmt::format("see it with `sallyport approvals show {} --reveal`\n",
                        shown(request, "request_id"));
  }
  text += fmt::format("until: {}\n", shown(request, "deadline"));
  text += fmt::format("approval: {}\n", shown(request, "request_id"));
  constexpr std::size_t kScheme = 7;  // `sha256:`
  const std::string binding = shown(request, "binding");
  return text + "binding: " + (binding.size() > kScheme ? binding.substr(kScheme, 8) : "");
}

}  // namespace

json::object approval_form(const json::object& request, const json::object& body) {
  constexpr int kLongestNote = 1000;
  const json::object decision{{"type", "string"},
                              {"title", "Decision"},
                              {"description", "approve: it runs once, with exactly this input"},
                              {"enum", json::array{"approve", "deny"}}};
  const bool why = bool_in(body, "reason_required").value_or(false);
  json::object note{{"type", "string"},
                    {"title", why ? "Reason" : "Note"},
                    {"description", why ? "why; an approval without a reason is rejected"
                                        : "why; becomes part of the record"},
                    {"maxLength", kLongestNote}};
  json::array required{"decision"};
  if (why) required.emplace_back("note");
  return {{"message", message(request, body)},
          {"requestedSchema",
           json::object{{"type", "object"},
                        {"properties", json::object{{"decision", decision}, {"note", note}}},
                        {"required", std::move(required)}}}};
}

std::optional<Reply> reply_in_form(const json::value& answer) {
  const json::object* const given = answer.if_object();
  const auto action = given ? text_in(*given, "action") : std::nullopt;
  if (action != "accept" && action != "decline") return std::nullopt;
  const json::object* const content = object_in(*given, "content");
  const auto decision = content ? text_in(*content, "decision") : std::nullopt;
  // Anything but a plain yes is a no (AP-12).
  const bool yes = action == "accept" && decision == "approve";
  Reply reply{.kind = yes ? Reply::Kind::Approved : Reply::Kind::Denied};
  reply.reason = std::string(content ? text_in(*content, "note").value_or("") : "");
  return reply;
}

bool shows_forms(const json::object& capabilities) {
  const json::object* const elicitation = object_in(capabilities, "elicitation");
  if (elicitation == nullptr) return false;
  return elicitation->contains("form") || !elicitation->contains("url");
}

}  // namespace sallyport::mcp
