#include "agent/tool/command_setting.h"

#include <fmt/format.h>

#include "base/try.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kLongestCommand = 100'000;  // the kernel takes no argument over 128 KiB

}  // namespace

Result<std::shared_ptr<const CommandSetting>> CommandSetting::make(const SharedContext& context) {
  std::shared_ptr<CommandSetting> setting(new CommandSetting());
  const ShellSettings& shell = *context->settings.shell;
  SALLYPORT_TRY(setting->sandbox_, CommandSandbox::make(shell, *context->roots));
  for (const std::string& name : shell.env) {
    const std::optional<std::string> value = context->parts.variable(name);
    if (value) setting->environment_.push_back(name + "=" + *value);
  }
  return setting;
}

Result<void> check_command(std::string_view command) {
  const auto wrong = [](std::string_view what) {
    return fail(ErrorCode::InvalidInput, fmt::format("`command` {}", what), "command");
  };
  if (command.find_first_not_of(" \t\r\n") == std::string_view::npos) return wrong("is empty");
  if (command.find('\0') != std::string_view::npos) return wrong("has a NUL byte");
  if (command.size() > kLongestCommand) {
    return wrong(fmt::format("is longer than {} bytes; write it to a file", kLongestCommand));
  }
  return {};
}

}  // namespace sallyport::agent
