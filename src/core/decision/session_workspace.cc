#include "core/decision/session_workspace.h"

#include <boost/json.hpp>

namespace sallyport::core {

std::string workspace_key(const Call& call) {
  return canonical_json(json::array{call.agent_id, call.session_id});
}

std::vector<std::string> session_workspace(const Call& call, RecordReader& records, bool* pins) {
  std::vector<std::string> stated = call.setting.workspace;
  if (stated.empty() && !call.setting.folder.empty()) stated.push_back(call.setting.folder);
  if (call.session_id.empty()) return stated;
  const auto stored = records.fact(kWorkspaceSpace, workspace_key(call));
  if (!stored) return {};
  if (!*stored) {
    if (pins != nullptr) *pins = !stated.empty();
    return stated;
  }
  const Result<json::value> pinned = parse_own_json(**stored);
  if (!pinned || !pinned->is_array()) return {};
  std::vector<std::string> folders;
  for (const json::value& folder : pinned->get_array()) {
    if (folder.is_string()) folders.emplace_back(folder.get_string());
  }
  return folders;
}

}  // namespace sallyport::core
