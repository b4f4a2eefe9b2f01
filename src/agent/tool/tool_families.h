// The tools in groups. Each function returns the tools that the configuration allows.
#pragma once

#include <vector>

#include "agent/tool/tool_context.h"

namespace sallyport::agent {

class BackgroundTasks;
class CommandSetting;

struct ToolEntry {
  OfferedTool offered{};
  bool replay_safe = false;
  std::shared_ptr<core::Upstream> upstream{};
};

// `read_file`, `list_files`, `search_files`.
std::vector<ToolEntry> reading_tools(const SharedContext& context);
// `write_file`, `edit_file`, if a root may be written.
std::vector<ToolEntry> writing_tools(const SharedContext& context);
// `shell`.
std::vector<ToolEntry> shell_tools(const SharedContext& context,
                                   std::shared_ptr<const CommandSetting> setting);
// `background_start`, `background_status`, `background_stop`.
std::vector<ToolEntry> background_tools(const SharedContext& context,
                                        const std::shared_ptr<BackgroundTasks>& tasks);
// `memory_search`; also `memory_pin` and `memory_forget` if memory may be edited.
std::vector<ToolEntry> memory_tools(const SharedContext& context);

}  // namespace sallyport::agent
