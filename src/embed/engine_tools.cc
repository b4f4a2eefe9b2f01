#include "embed/engine_tools.h"

#include <algorithm>

namespace sallyport::embed {

bool EngineTools::is_of_engine(std::string_view name) const {
  return std::ranges::any_of(parts_.tools,
                             [&](const AgentTool& tool) { return tool.name == name; });
}

std::vector<agent::OfferedTool> EngineTools::offered() const {
  std::vector<agent::OfferedTool> all = own_->offered();
  std::erase_if(all, [&](const agent::OfferedTool& tool) { return is_of_engine(tool.name); });
  for (const AgentTool& tool : parts_.tools)
    all.push_back({tool.name, tool.description, tool.schema});
  return all;
}

agent::Toolbox::Target EngineTools::target(std::string_view name) const {
  if (!is_of_engine(name)) return own_->target(name);
  return {"", std::string(name)};
}

std::shared_ptr<core::Upstream> EngineTools::find(std::string_view name) const {
  if (!is_of_engine(name)) return own_->find(name);
  return parts_.find({.tool = std::string(name)});
}

bool EngineTools::replay_safe(std::string_view name) const {
  if (!is_of_engine(name)) return own_->replay_safe(name);
  const std::shared_ptr<const core::Plan> plan = parts_.plans.current();
  return plan->classify({.tool = std::string(name)}).tier == Tier::Observe;
}

}  // namespace sallyport::embed
