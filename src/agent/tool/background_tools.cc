#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "agent/tool/background_tasks.h"
#include "agent/tool/own_tool.h"
#include "agent/tool/tool_families.h"
#include "agent/tool/tool_output.h"
#include "agent/tool/tool_schema.h"
#include "base/json_members.h"
#include "base/on_pool.h"
#include "base/try.h"

namespace sallyport::agent {

namespace {

using sessions::BackgroundTask;
using SharedTasks = std::shared_ptr<BackgroundTasks>;

constexpr std::size_t kStatusBytes = 48 * 1024;
constexpr std::size_t kStatusLines = 1'900;

std::string status_line(const BackgroundTask& task) {
  std::string line = fmt::format("[{}", to_string(task.status));
  if (task.exit_code) line += fmt::format(", exit code {}", *task.exit_code);
  if (task.signal) line += fmt::format(", signal {}", *task.signal);
  if (task.output_dropped > 0) line += fmt::format(", {} bytes dropped", task.output_dropped);
  return line + "]";
}

json::object data_of(const BackgroundTask& task) {
  const auto number = [](const std::optional<int>& value) {
    return value ? json::value(*value) : json::value(nullptr);
  };
  return {{"task_id", task.id},
          {"status", to_string(task.status)},
          {"exit_code", number(task.exit_code)},
          {"signal", number(task.signal)},
          {"output_dropped", task.output_dropped}};
}

// The last lines, up to the requested number and the limit.
std::string last_lines(const std::string& text, std::uint64_t count) {
  std::size_t from = text.size();
  for (std::uint64_t lines = 0; from > 0 && text.size() - from < kStatusBytes; --from) {
    if (text[from - 1] != '\n' || from == text.size()) continue;
    if (++lines >= std::min<std::uint64_t>(count, kStatusLines)) break;
  }
  if (from == 0) return text;
  // Do not start in the middle of a character.
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xc0u) == 0x80u) ++from;
  std::string kept = text.substr(from);
  if (!kept.ends_with('\n')) kept += '\n';
  return kept + fmt::format("[{} bytes before that are left out; ask for a larger `tail`]", from);
}

std::unexpected<Error> no_task(std::string_view id) {
  return fail(ErrorCode::NotFound, fmt::format("there is no task `{:.80}`", id));
}

class BackgroundTool : public OwnTool {
 public:
  BackgroundTool(SharedContext context, OfferedTool offered, SharedTasks tasks)
      : OwnTool(std::move(context), std::move(offered)), tasks_(std::move(tasks)) {}

 protected:
  const SharedTasks tasks_;  // shared: its commands outlive the call
};

class BackgroundStart final : public BackgroundTool {
  using BackgroundTool::BackgroundTool;

  Task<Envelope> answer(Call call, std::stop_token cancel) override {
    const json::object& input = call.input.as_object();
    const std::string command = text_or_empty(input, "command");
    SALLYPORT_CO_CHECK_OK(check_command(command));
    SALLYPORT_CO_TRY(Found folder, co_await on_pool<Result<Found>>(
                                       context()->parts.pool,
                                       [context = context(), path = text_or_empty(input, "cwd")] {
                                         return context->roots->folder(path, "cwd");
                                       }));
    if (cancel.stop_requested()) co_return fail(ErrorCode::Cancelled, "cancelled");
    const Result<std::string> id = co_await tasks_->start(call, command, std::move(folder));
    if (!id) co_return std::unexpected(id.error());
    co_return text_and_data(true, fmt::format("task {} runs", *id), {{"task_id", *id}});
  }
};

class BackgroundStatus final : public BackgroundTool {
  using BackgroundTool::BackgroundTool;

  Task<Envelope> answer(Call call, std::stop_token) override {
    const json::object& input = call.input.as_object();
    const std::string id = text_or_empty(input, "task_id");
    SALLYPORT_CO_TRY(const auto task, co_await tasks_->look(call.agent_id, id));
    if (!task) co_return no_task(id);
    const std::string output = text_from(task->output);
    const std::optional<std::uint64_t> tail = number_in(input, "tail");
    std::string text = tail ? last_lines(output, *tail)
                            : cut_with_hint(output, "ask with `tail` for the last lines",
                                            kStatusBytes, kStatusLines);
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    co_return text_and_data(true, text + status_line(*task), data_of(*task));
  }
};

class BackgroundStop final : public BackgroundTool {
  using BackgroundTool::BackgroundTool;

  Task<Envelope> answer(Call call, std::stop_token) override {
    const std::string id = text_or_empty(call.input.as_object(), "task_id");
    SALLYPORT_CO_TRY(const auto task, co_await tasks_->stop(call.agent_id, id));
    if (!task) co_return no_task(id);
    if (task->status == sessions::TaskStatus::Running) {
      co_return fail(ErrorCode::Conflict,
                     fmt::format("task `{:.80}` runs in another process, or does not end", id));
    }
    co_return text_and_data(true, status_line(*task), data_of(*task));
  }
};

}  // namespace

std::vector<ToolEntry> background_tools(const SharedContext& context, const SharedTasks& tasks) {
  const OfferedTool start{
      .name = "background_start",
      .description = "Starts a command with /bin/sh in the background.",
      .schema = schema_of(
          {{"command", InputType::Text, "the command line", true},
           {"cwd", InputType::Text, "the folder to run in; the first root if left out"}})};
  const OfferedTool status{
      .name = "background_status",
      .description =
          "Reports whether a background command is running or how it ended, and its output.",
      .schema =
          schema_of({{"task_id", InputType::Text, "the id that background_start returned", true},
                     {"tail", InputType::Count, "only this many lines, from the end"}})};
  const OfferedTool stop{
      .name = "background_stop",
      .description = "Ends a background command.",
      .schema =
          schema_of({{"task_id", InputType::Text, "the id that background_start returned", true}})};
  return {{start, false, std::make_shared<BackgroundStart>(context, start, tasks)},
          {status, true, std::make_shared<BackgroundStatus>(context, status, tasks)},
          {stop, false, std::make_shared<BackgroundStop>(context, stop, tasks)}};
}

}  // namespace sallyport::agent
