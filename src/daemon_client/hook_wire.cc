#include "daemon_client/hook_wire.h"

#include <boost/json.hpp>
#include <filesystem>

#include "base/json_members.h"
#include "base/try.h"
#include "policy/policy_loader.h"

namespace sallyport::app {

namespace {

struct Parts {
  json::object head;
  std::string_view body;
};

std::string joined(const json::object& head, std::string_view body) {
  return json::serialize(head).append("\n").append(body);
}

Result<Parts> parts_of(std::string_view frame) {
  const std::size_t end = frame.find('\n');
  if (end == std::string_view::npos)
    return fail(ErrorCode::InvalidInput, "a frame has a first line");
  SALLYPORT_TRY(const ParsedJson head, parse_json(frame.substr(0, end)));
  if (!head.value.is_object()) {
    return fail(ErrorCode::InvalidInput, "the first line of a frame is a JSON object");
  }
  return Parts{head.value.get_object(), frame.substr(end + 1)};
}

}  // namespace

std::string to_frame(const HookMessage& message) {
  json::object head{
      {"agent", message.agent}, {"policy", message.policy}, {"interactive", message.interactive}};
  if (!message.workspace.empty()) head["workspace"] = json::value_from(message.workspace);
  return joined(std::move(head), message.event);
}

std::string to_frame(const RefusedCommand& refused) {
  return joined({{"refused", refused.command}}, "");
}

std::string to_frame(const HookAnswer& answer) {
  return joined({{"notice", answer.notice}}, answer.output);
}

Result<HookMessage> hook_message_in(std::string_view frame) {
  SALLYPORT_TRY(const Parts parts, parts_of(frame));
  const auto agent = text_in(parts.head, "agent");
  const auto policy = text_in(parts.head, "policy");
  const auto interactive = bool_in(parts.head, "interactive");
  if (!agent || !policy || !interactive) {
    return fail(ErrorCode::InvalidInput, "a question names `agent`, `policy` and `interactive`");
  }
  // The daemon would resolve a relative path in its own folder.
  if (!policy->empty() && !policy::PolicyOrigin::shipped(std::string(*policy)) &&
      !std::filesystem::path(*policy).is_absolute()) {
    return fail(ErrorCode::InvalidInput, "the file of a policy is named by its full path");
  }
  HookMessage message{.agent = std::string(*agent),
                      .policy = std::string(*policy),
                      .interactive = *interactive,
                      .event = std::string(parts.body)};
  if (const json::value* const folders = parts.head.if_contains("workspace")) {
    const json::array* const list = folders->if_array();
    for (std::size_t i = 0; list && i < list->size(); ++i) {
      if ((*list)[i].is_string()) message.workspace.emplace_back((*list)[i].get_string());
    }
  }
  return message;
}

Result<HookAnswer> hook_answer_in(std::string_view frame) {
  SALLYPORT_TRY(const Parts parts, parts_of(frame));
  const auto notice = text_in(parts.head, "notice");
  if (!notice) return fail(ErrorCode::InvalidInput, "an answer has a `notice`");
  return HookAnswer{.output = std::string(parts.body), .notice = std::string(*notice)};
}

std::optional<RefusedCommand> refused_command_in(std::string_view frame) {
  const Result<Parts> parts = parts_of(frame);
  const auto command = parts ? text_in(parts->head, "refused") : std::nullopt;
  if (!command) return std::nullopt;
  return RefusedCommand{std::string(*command)};
}

}  // namespace sallyport::app
