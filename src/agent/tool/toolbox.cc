#include <algorithm>

#include "agent/tool/background_tasks.h"
#include "agent/tool/command_setting.h"
#include "agent/tool/tool_families.h"
#include "agent/tool/tools.h"
#include "base/try.h"

namespace sallyport::agent {

namespace {

class OwnToolbox final : public Toolbox {
 public:
  OwnToolbox(SharedContext context, std::vector<ToolEntry> tools,
             std::shared_ptr<BackgroundTasks> tasks)
      : context_(std::move(context)), tools_(std::move(tools)), tasks_(std::move(tasks)) {}

  std::vector<std::string> roots() const override { return context_->roots->paths(); }

  std::vector<OfferedTool> offered() const override {
    std::vector<OfferedTool> all;
    for (const ToolEntry& tool : tools_) all.push_back(tool.offered);
    return all;
  }

  std::shared_ptr<core::Upstream> find(std::string_view name) const override {
    const ToolEntry* const tool = entry(name);
    return tool == nullptr ? nullptr : tool->upstream;
  }

  bool replay_safe(std::string_view name) const override {
    const ToolEntry* const tool = entry(name);
    return tool != nullptr && tool->replay_safe;
  }

  Async<void> stop() override {
    if (tasks_) co_await tasks_->stop_all();
  }

 private:
  const ToolEntry* entry(std::string_view name) const {
    const auto found = std::ranges::find(
        tools_, name, [](const ToolEntry& tool) { return std::string_view(tool.offered.name); });
    return found == tools_.end() ? nullptr : &*found;
  }

  const SharedContext context_;
  const std::vector<ToolEntry> tools_;
  const std::shared_ptr<BackgroundTasks> tasks_;  // shared with its own coroutines; null: none
};

void add(std::vector<ToolEntry>& tools, std::vector<ToolEntry> more) {
  std::ranges::move(more, std::back_inserter(tools));
}

}  // namespace

Result<std::unique_ptr<Toolbox>> Toolbox::open(const Settings& settings, ToolParts parts) {
  SALLYPORT_TRY(std::unique_ptr<Roots> roots, Roots::open(settings.roots, parts.data_folder));
  const auto context = std::make_shared<const ToolContext>(
      ToolContext{settings, std::move(parts), std::move(roots)});
  std::vector<ToolEntry> tools = reading_tools(context);
  add(tools, writing_tools(context));
  std::shared_ptr<BackgroundTasks> tasks;
  // A command needs a working folder.
  if (settings.shell && !context->roots->paths().empty()) {
    SALLYPORT_TRY(const auto setting, CommandSetting::make(context));
    add(tools, shell_tools(context, setting));
    tasks = std::make_shared<BackgroundTasks>(context, setting);
    add(tools, background_tools(context, tasks));
  }
  add(tools, memory_tools(context));
  return std::make_unique<OwnToolbox>(context, std::move(tools), std::move(tasks));
}

}  // namespace sallyport::agent
