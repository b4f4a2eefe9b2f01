// The tools of an engine and the agent's own tools as one toolbox.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "agent/tool/tools.h"
#include "sallyport/agent.h"

namespace sallyport::embed {

class EngineTools final : public agent::Toolbox {
 public:
  // All references must outlive it.
  struct Parts {
    std::function<std::shared_ptr<core::Upstream>(const Call& call)> find;
    const core::PlanSource& plans;
    const std::vector<AgentTool>& tools;
  };
  EngineTools(Parts parts, std::unique_ptr<agent::Toolbox> own)
      : parts_(std::move(parts)), own_(std::move(own)) {}

  std::vector<std::string> roots() const override { return own_->roots(); }
  std::vector<agent::OfferedTool> offered() const override;
  Target target(std::string_view name) const override;
  std::shared_ptr<core::Upstream> find(std::string_view name) const override;
  bool replay_safe(std::string_view name) const override;
  Async<void> stop() override { return own_->stop(); }

 private:
  bool is_of_engine(std::string_view name) const;

  Parts parts_;
  std::unique_ptr<agent::Toolbox> own_;
};

}  // namespace sallyport::embed
