#include "agent/tool/own_tool.h"

#include <boost/json.hpp>

#include "agent/tool/tool_output.h"
#include "base/cut_text.h"
#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kLongestDetail = 4096;  // of an entry, whatever is refused

}  // namespace

OwnTool::OwnTool(SharedContext context, OfferedTool offered)
    : context_(std::move(context)), offered_(std::move(offered)) {}

Task<Envelope> OwnTool::invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                               std::stop_token cancel) {
  const Result<json::object> input = checked_input(offered_, call.input);
  if (!input) co_return Envelope::error(input.error().message);
  call.input = *input;
  Result<Envelope> answered = co_await answer(call, std::move(cancel));
  if (answered) co_return answered;
  const Error& error = answered.error();
  const std::optional<event::DeniedAction> action = denied_action(offered_.name);
  if (is_refusal(error) && action) delivery->deny(*action, refused_detail(*input));
  if (error.cause == sessions::kTooManyTasks) {
    delivery->deny(event::DeniedAction::BackgroundLimit, error.message);
  }
  co_return Envelope::error(readable(error.message));
}

ToolResult OwnTool::result_of(const Envelope& released) const {
  return result_with_data(released);
}

std::string OwnTool::working_directory() const {
  const std::vector<std::string> roots = context_->roots->paths();
  return roots.empty() ? "" : roots.front();
}

Result<json::object> checked_input(const OfferedTool& tool, const json::value& input) {
  SALLYPORT_CHECK_OK(check_input(tool, input));
  const json::object* const members = input.if_object();
  if (members == nullptr) return fail(ErrorCode::InvalidInput, "the input is not an object");
  json::object checked = *members;
  for (json::key_value_pair& member : checked) {
    // Our own tools have no numbers but counts, which JSON writes as `2` or as `2.0`.
    if (member.value().is_double()) {
      member.value() = static_cast<std::uint64_t>(member.value().get_double());
    }
  }
  return checked;
}

std::optional<event::DeniedAction> denied_action(std::string_view tool) {
  using event::DeniedAction;
  constexpr std::pair<std::string_view, DeniedAction> kActions[] = {
      {"read_file", DeniedAction::ReadFile},
      {"list_files", DeniedAction::ListFiles},
      {"search_files", DeniedAction::SearchFiles},
      {"write_file", DeniedAction::WriteFile},
      {"edit_file", DeniedAction::EditFile},
      {"shell", DeniedAction::Shell},
      {"background_start", DeniedAction::BackgroundStart}};
  for (const auto& [name, action] : kActions) {
    if (name == tool) return action;
  }
  return std::nullopt;
}

std::string refused_detail(const json::object& input) {
  for (const std::string_view name : {"path", "cwd"}) {
    if (const auto given = text_in(input, name)) return cut_utf8_bytes(*given, kLongestDetail);
  }
  return {};
}

}  // namespace sallyport::agent
