// `sallyport hook`: one event of a coding agent in, one decision out. A daemon that runs is asked;
// else the event is judged here. Whatever goes wrong is answered with exit code 0.
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "app/commands.h"
#include "app/governed_process.h"
#include "app/hook_desk.h"
#include "app/hook_line.h"
#include "app/input.h"
#include "app/output.h"
#include "app/run_on.h"
#include "app/time_budget.h"
#include "base/try.h"
#include "core/stored_record.h"

namespace sallyport::app {

namespace {

using hook::Event;

// Hosts are told to wait ten seconds.
constexpr std::chrono::milliseconds kBudget{8000};

// A run without a terminal names another entry point than `cli`.
hook::Setting setting_of(const Context& context, const HookOptions& options) {
  if (options.interactive != "auto") return {.interactive = options.interactive == "yes"};
  const std::optional<std::string>& entry = context.environment.claude_entrypoint;
  return {.interactive = !entry || !entry->starts_with("sdk")};
}

HookQuestion question_of(const Context& context, const HookOptions& options) {
  HookQuestion question{.dialect = hook::dialect_named(options.agent),
                        .policy = options.policy.value_or("starter"),
                        .setting = setting_of(context, options)};
  question.event.kind = Event::Kind::Before;
  return question;
}

// What cannot be read at all is taken for a call: that is what must not run.
Result<void> read_event(HookQuestion& question, const Result<std::string>& text) {
  if (!text) return std::unexpected(text.error());
  Event event;
  const Result<void> read = hook::read_event(*question.dialect, *text, event);
  if (read || event.kind != Event::Kind::Other) question.event = std::move(event);
  return read;
}

std::string late_answer(const HookQuestion& question) {
  return refusal(question, {ErrorCode::Deadline, "no decision within 8 s"}).output;
}

// The daemon works in another folder.
std::string known_everywhere(const std::string& policy) {
  if (policy::PolicyOrigin::shipped(policy)) return policy;
  std::error_code code;
  return std::filesystem::absolute(policy, code).string();
}

Result<std::unique_ptr<Workspace>> open_workspace(Workspace::Place place) {
  std::error_code code;
  // A passer-by: only a ledger that is not there yet is told of a start.
  const bool first = !std::filesystem::exists(place.ledger_file(), code);
  Workspace::Writing writing{.role = "hook", .announced = first, .passing = true, .in_place = true};
  if (first) writing.close_interrupted = core::close_interrupted;
  return Workspace::open_writing(std::move(place), std::move(writing));
}

Result<HookAnswer> judge_here(Workspace::Place place, HookQuestion question) {
  boost::asio::io_context loop(1);  // behind the ledger, which may still tell it something
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, open_workspace(std::move(place)));
  HookDesk desk(*workspace, workspace->ledger());
  question.host = host_of_hook(getpid());
  const auto judged = [](HookDesk& by, HookQuestion about) -> Task<HookAnswer> {
    co_return co_await by.answer(std::move(about));
  };
  return run_on(loop, judged(desk, std::move(question)));
}

Result<HookAnswer> judge(const Context& context, const HookQuestion& question, std::string text) {
  SALLYPORT_TRY(Workspace::Place place, context.place());
  const HookMessage message{.agent = std::string(question.dialect->name()),
                            .policy = known_everywhere(question.policy),
                            .interactive = question.setting.interactive,
                            .event = std::move(text)};
  SALLYPORT_TRY(std::optional<HookAnswer> answer, ask_daemon(place.data_dir, message));
  if (answer) return std::move(*answer);
  return judge_here(std::move(place), question);
}

void tell(const HookAnswer& answer) {
  if (!answer.notice.empty()) {
    const std::string line = answer.notice + "\n";
    (void)!write(STDERR_FILENO, line.data(), line.size());
  }
  if (!answer.output.empty()) say(answer.output);
}

}  // namespace

Result<int> answer_hook(const Context& context, const HookOptions& options) {
  HookQuestion question = question_of(context, options);
  TimeBudget budget(kBudget);
  budget.answer_with(late_answer(question));
  Result<std::string> text = read_input("-", hook::kLargestEvent + 1);
  const Result<void> read = read_event(question, text);
  if (question.event.kind == Event::Kind::Other) return 0;
  budget.answer_with(late_answer(question));
  Result<HookAnswer> answer = read ? judge(context, question, std::move(*text))
                                   : Result<HookAnswer>(std::unexpected(read.error()));
  if (!answer) answer = failure(question, answer.error());
  budget.disarm();
  tell(*answer);
  return 0;
}

}  // namespace sallyport::app
