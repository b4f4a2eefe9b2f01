// What commands of an agent begin with: their folder, their variables, their sandbox.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/tool/command_sandbox.h"
#include "agent/tool/tool_context.h"

namespace sallyport::agent {

// Immutable. Shared by the tools that start commands.
class CommandSetting {
 public:
  // The configuration has a shell. Errors as `CommandSandbox::make`.
  static Result<std::shared_ptr<const CommandSetting>> make(const SharedContext& context);

  const CommandSandbox& sandbox() const { return *sandbox_; }
  const std::vector<std::string>& environment() const { return environment_; }

 private:
  CommandSetting() = default;
  std::unique_ptr<const CommandSandbox> sandbox_;
  std::vector<std::string> environment_;
};

// `InvalidInput`: no program can be given this text.
Result<void> check_command(std::string_view command);

}  // namespace sallyport::agent
