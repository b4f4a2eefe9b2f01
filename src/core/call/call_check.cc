#include "core/call/call_check.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "core/turn/dispatch.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kLongestIdentifier = 512;
constexpr std::size_t kDeepestInput = 100;
constexpr std::uint64_t kLargestNumber = (std::uint64_t{1} << 53) - 1;

}  // namespace

Result<void> check_call(const Call& call) {
  const std::pair<std::string_view, const std::string&> identifiers[] = {
      {"tool_call_id", call.tool_call_id},
      {"agent_id", call.agent_id},
      {"agent_name", call.agent_name},
      {"session_id", call.session_id},
      {"trace_id", call.trace_id},
      {"run_id", call.run_id},
      {"server", call.server},
      {"tool", call.tool},
      {"provider", call.provenance.provider},
      {"model", call.provenance.model}};
  for (const auto& [name, text] : identifiers) {
    if (text.size() > kLongestIdentifier) {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("`{}` has {} bytes; send at most {}", name, text.size(), kLongestIdentifier),
          std::string(name));
    }
    if (!is_utf8(text)) {
      return fail(ErrorCode::InvalidInput, fmt::format("`{}` is not UTF-8; send it as UTF-8", name),
                  std::string(name));
    }
  }
  const std::pair<std::string_view, std::uint64_t> numbers[] = {{"turn", call.turn},
                                                                {"history_len", call.history_len}};
  for (const auto& [name, number] : numbers) {
    if (number > kLargestNumber) {
      return fail(ErrorCode::InvalidInput, fmt::format("`{}` is beyond 2^53-1", name),
                  std::string(name));
    }
  }
  if (call.time_limit && *call.time_limit <= std::chrono::milliseconds::zero()) {
    return fail(ErrorCode::InvalidInput, "`time_limit` is not above zero", "time_limit");
  }
  if (!call.trigger_id.empty()) SALLYPORT_CHECK_OK(check_trigger_id(call.trigger_id));
  if (call.tool.empty()) return fail(ErrorCode::InvalidInput, "a call names its tool", "tool");
  if (const Result<void> sound = check_json(call.input, kDeepestInput); !sound) {
    return fail(ErrorCode::InvalidInput, "`input`: " + sound.error().message, "input");
  }
  return {};
}

Result<void> check_call(const Call& call, const Redactor& redactor) {
  SALLYPORT_CHECK_OK(check_call(call));
  return call.trigger_id.empty() ? Result<void>() : check_trigger_id(call.trigger_id, redactor);
}

}  // namespace sallyport::core
