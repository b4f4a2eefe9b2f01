#include "core/call_check.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "core/dispatch.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kLongestIdentifier = 512;
constexpr std::size_t kDeepestInput = 100;

}  // namespace

Result<void> check_call(const Call& call) {
  const std::pair<std::string_view, const std::string&> identifiers[] = {
      {"tool_call_id", call.tool_call_id},
      {"agent_id", call.agent_id},
      {"agent_name", call.agent_name},
      {"session_id", call.session_id},
      {"trace_id", call.trace_id},
      {"server", call.server},
      {"tool", call.tool},
      {"provider", call.provenance.provider},
      {"model", call.provenance.model}};
  for (const auto& [name, text] : identifiers) {
    if (text.size() > kLongestIdentifier || !check_json(json::value(text))) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("`{}` is over {} bytes or not UTF-8", name, kLongestIdentifier),
                  std::string(name));
    }
  }
  if (!call.trigger_id.empty()) SALLYPORT_CHECK_OK(check_trigger_id(call.trigger_id));
  if (call.tool.empty()) return fail(ErrorCode::InvalidInput, "a call names its tool", "tool");
  return check_json(call.input, kDeepestInput);
}

}  // namespace sallyport::core
