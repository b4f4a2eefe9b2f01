// The environment variables and the sandbox with which the commands of an agent start.
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
  // Requires a shell in the configuration. Errors are those of `CommandSandbox::make`.
  static Result<std::shared_ptr<const CommandSetting>> make(const SharedContext& context);

  const CommandSandbox& sandbox() const { return *sandbox_; }
  const std::vector<std::string>& environment() const { return environment_; }

 private:
  CommandSetting() = default;
  std::unique_ptr<const CommandSandbox> sandbox_;
  std::vector<std::string> environment_;
};

// `InvalidInput`: the text cannot be passed to a program.
Result<void> check_command(std::string_view command);

}  // namespace sallyport::agent
