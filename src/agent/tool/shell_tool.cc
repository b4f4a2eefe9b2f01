#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/json.hpp>

#include "agent/tool/command_setting.h"
#include "agent/tool/own_tool.h"
#include "agent/tool/running_command.h"
#include "agent/tool/tool_families.h"
#include "agent/tool/tool_output.h"
#include "agent/tool/tool_schema.h"
#include "base/json_members.h"
#include "base/on_pool.h"
#include "base/try.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kKeptOfCommand = 64 * 1024;
// The limit of a result, which is shorter than the kept output.
constexpr std::size_t kOutputBytes = 32 * 1024;
constexpr std::size_t kOutputLines = 1'300;
constexpr std::size_t kErrorBytes = 14 * 1024;
constexpr std::size_t kErrorLines = 600;

// Stops the command when its caller no longer waits.
class Attended {
 public:
  explicit Attended(std::shared_ptr<RunningCommand> command) : command_(std::move(command)) {}
  Attended(const Attended&) = delete;
  ~Attended() { command_->stop(); }

 private:
  const std::shared_ptr<RunningCommand> command_;  // shared: its readers go on to its end
};

json::value or_null(const std::optional<int>& number) {
  return number ? json::value(*number) : json::value(nullptr);
}

std::string shown(const KeptOutput& kept, std::size_t bytes, std::size_t lines) {
  std::string text =
      cut_with_hint(text_from(kept.text), "send it to a file and read that", bytes, lines);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (kept.dropped > 0) text += fmt::format("[{} more bytes were dropped]\n", kept.dropped);
  return text;
}

std::string end_line(const CommandEnd& end, std::chrono::seconds longest) {
  if (end.why == CommandEnd::Why::Time) {
    return fmt::format("[timed out after {} s]", longest.count());
  }
  if (end.why == CommandEnd::Why::Stopped) return "[cancelled]";
  if (end.signal) return fmt::format("[ended by signal {}]", *end.signal);
  return fmt::format("[exit code {}]", end.exit_code.value_or(-1));
}

class ShellTool final : public OwnTool {
 public:
  ShellTool(SharedContext context, OfferedTool offered,
            std::shared_ptr<const CommandSetting> setting)
      : OwnTool(std::move(context), std::move(offered)), setting_(std::move(setting)) {}

 protected:
  Task<Envelope> answer(Call call, std::stop_token cancel) override {
    const json::object& input = call.input.as_object();
    const std::string text = text_or_empty(input, "command");
    SALLYPORT_CO_CHECK_OK(check_command(text));
    SALLYPORT_CO_TRY(const std::chrono::seconds longest, time_in(input));
    SALLYPORT_CO_TRY(
        const Found folder,
        co_await on_pool<Result<Found>>(context()->parts.pool,
                                        [context = context(), path = text_or_empty(input, "cwd")] {
                                          return context->roots->folder(path, "cwd");
                                        }));
    if (cancel.stop_requested()) co_return fail(ErrorCode::Cancelled, "cancelled");
    SALLYPORT_CO_TRY(
        const auto command,
        RunningCommand::start(context()->parts.executor, {.command = text,
                                                          .folder = folder.handle.get(),
                                                          .environment = setting_->environment(),
                                                          .cage = setting_->sandbox().cage(),
                                                          .kept = kKeptOfCommand}));
    const Attended attended(command);
    const std::stop_callback on_cancel(cancel, [command, executor = context()->parts.executor] {
      boost::asio::post(executor, [command] { command->stop(); });
    });
    const CommandEnd end = co_await command->run(longest);
    co_return answer_of(*command, end, longest);
  }

 private:
  Result<std::chrono::seconds> time_in(const json::object& input) const {
    const ShellSettings& shell = *context()->settings.shell;
    const std::optional<std::uint64_t> requested = number_in(input, "timeout_s");
    if (!requested) return std::min(shell.timeout, shell.max_timeout);
    if (*requested == 0) return fail(ErrorCode::InvalidInput, "`timeout_s` is 0", "timeout_s");
    const auto most = static_cast<std::uint64_t>(shell.max_timeout.count());
    return std::chrono::seconds(std::min(*requested, most));
  }

  Envelope answer_of(const RunningCommand& command, const CommandEnd& end,
                     std::chrono::seconds longest) const {
    std::string text = shown(command.output(), kOutputBytes, kOutputLines);
    const std::string errors = shown(command.errors(), kErrorBytes, kErrorLines);
    if (!errors.empty()) text += "[standard error]\n" + errors;
    text += end_line(end, longest);
    const bool success = end.why == CommandEnd::Why::Itself && end.exit_code == 0;
    return text_and_data(success, std::move(text),
                         {{"exit_code", or_null(end.exit_code)},
                          {"signal", or_null(end.signal)},
                          {"timed_out", end.why == CommandEnd::Why::Time},
                          {"stdout_dropped", command.output().dropped},
                          {"stderr_dropped", command.errors().dropped},
                          {"sandbox", setting_->sandbox().text()}});
  }

  const std::shared_ptr<const CommandSetting> setting_;
};

}  // namespace

std::vector<ToolEntry> shell_tools(const SharedContext& context,
                                   std::shared_ptr<const CommandSetting> setting) {
  const OfferedTool shell{
      .name = "shell",
      .description = "Runs a command with /bin/sh and returns its output and how it ended.",
      .schema =
          schema_of({{"command", InputType::Text, "the command line", true},
                     {"cwd", InputType::Text, "the folder to run in; the first root if left out"},
                     {"timeout_s", InputType::Count, "seconds after which the command is ended"}})};
  return {{shell, false, std::make_shared<ShellTool>(context, shell, std::move(setting))}};
}

}  // namespace sallyport::agent
