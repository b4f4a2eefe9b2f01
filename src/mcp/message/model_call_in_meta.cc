#include "mcp/message/model_call_in_meta.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

namespace sallyport::mcp {

namespace {

constexpr std::size_t kLongestId = 512;
constexpr std::array<std::string_view, 3> kNames{"toolUseId", "toolCallId", "tool_call_id"};

// Names in `_meta` have the form `prefix/name`.
bool names_a_call(std::string_view member) {
  const std::size_t slash = member.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? member : member.substr(slash + 1);
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace

std::string model_call_id(const Message& request) {
  const json::object* const meta = request.method == "tools/call" ? request.meta() : nullptr;
  if (meta == nullptr) return {};
  std::string id;
  for (const json::key_value_pair& member : *meta) {
    if (!names_a_call(member.key()) || !member.value().is_string()) continue;
    const std::string_view named = member.value().get_string();
    if (named.empty() || named.size() > kLongestId) continue;
    if (!id.empty() && id != named) return {};
    id = named;
  }
  return id;
}

}  // namespace sallyport::mcp
