// `sallyport hook`: one event of a coding agent in, one decision out. A daemon that runs is asked;
// else the event is judged here. On a machine with the system set-up the service alone judges, and
// without it everything is refused. Every failure is answered with exit code 0, and with 2 only if
// no answer can be written.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <cstring>

#include "app/hooks/hook_desk.h"
#include "app/hooks/last_word.h"
#include "base/run_on.h"
#include "base/try.h"
#include "cli/command.h"
#include "core/record/stored_record.h"
#include "daemon_client/hook_line.h"
#include "daemon_client/service_line.h"
#include "people/agent_ancestry.h"
#include "terminal/input.h"

namespace sallyport::app {

namespace {

struct HookOptions {
  std::string agent;
  std::optional<std::string> policy;  // as of `mcp`
  std::string interactive = "auto";
};

using hook::Event;

// The settings of hosts wait ten seconds.
constexpr std::chrono::milliseconds kBudget{8000};

// A run without a terminal names another entry point than `cli`.
hook::Setting setting_of(const Context& context, const HookOptions& options) {
  const Environment& environment = context.environment;
  hook::Setting setting;
  const std::optional<std::string>& project =
      options.agent == "gemini" ? environment.gemini_project : environment.claude_project;
  const bool named = options.agent == "gemini" || options.agent == "claude-code";
  if (named && project) setting.workspace.push_back(*project);
  const std::optional<std::string>& entry = environment.claude_entrypoint;
  setting.interactive = options.interactive == "auto" ? !entry || !entry->starts_with("sdk")
                                                      : options.interactive == "yes";
  return setting;
}

HookQuestion question_of(const Context& context, const HookOptions& options) {
  HookQuestion question{.dialect = hook::dialect_named(options.agent),
                        .policy = options.policy.value_or("starter"),
                        .setting = setting_of(context, options)};
  question.event.kind = Event::Kind::Before;
  return question;
}

// An event whose name cannot be read counts as a call, because calls must not run unjudged.
Result<void> read_event(HookQuestion& question, const Result<std::string>& text) {
  if (!text) return std::unexpected(text.error());
  Event event;
  const Result<void> read = hook::read_event(*question.dialect, *text, event);
  if (read || event.kind != Event::Kind::Other) question.event = std::move(event);
  return read;
}

LastWord::Answers last_word(const HookQuestion& question) {
  return {.late = refusal(question, {ErrorCode::Deadline, "no decision within 8 s"}).output,
          .broken = refusal(question, {ErrorCode::Internal, "ended before it decided"}).output};
}

// Prepares the last word for an event of which only the beginning has come, because a host ignores
// the answer to another event. The beginning is read again only after it has grown by a quarter.
class EarlyWord {
 public:
  EarlyWord(LastWord& last, const HookQuestion& question) : last_(last), question_(question) {}

  void take(std::string_view begun) {
    if (begun.size() < next_) return;
    next_ = begun.size() + begun.size() / 4;
    Event event;
    (void)hook::read_event(*question_.dialect, begun, event);
    if (event.kind == Event::Kind::Other) return;
    question_.event = std::move(event);
    last_.prepare(last_word(question_));
  }

 private:
  LastWord& last_;
  HookQuestion question_;
  std::size_t next_ = 0;
};

// The daemon works in another folder.
std::string known_everywhere(const std::string& policy) {
  if (policy::PolicyOrigin::shipped(policy)) return policy;
  std::error_code code;
  return std::filesystem::absolute(policy, code).string();
}

Result<std::unique_ptr<Workspace>> open_workspace(Workspace::Place place) {
  // A short-lived process: it announces its start only in a new ledger.
  const bool first = !place.has_ledger();
  Workspace::Writing writing{.role = "hook", .announced = first, .passing = true, .in_place = true};
  writing.closes_interrupted = first;
  return Workspace::open_writing(std::move(place), std::move(writing));
}

Result<HookAnswer> judge_here(Workspace::Place place, HookQuestion question) {
  boost::asio::io_context loop(1);  // destroyed after the ledger, which may still post to it
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, open_workspace(std::move(place)));
  HookDesk desk(*workspace, workspace->ledger());
  question.host = host_of_hook(getpid());
  const auto judged = [](HookDesk& by, HookQuestion about) -> Task<HookAnswer> {
    co_return co_await by.answer(std::move(about));
  };
  return run_on(loop, judged(desk, std::move(question)));
}

struct HookCommand {
  const Context& context;
  const HookOptions& options;

  // False: the service alone judges, and the options of this process do not count.
  bool may_judge_here() const { return context.system && !*context.system; }
};

Result<HookAnswer> judge(const HookCommand& command, const HookQuestion& question,
                         std::string text) {
  if (!command.context.system) return std::unexpected(command.context.system.error());
  HookMessage message{.agent = std::string(question.dialect->name()),
                      .policy = known_everywhere(question.policy),
                      .interactive = question.setting.interactive,
                      .workspace = question.setting.workspace,
                      .event = std::move(text)};
  if (!command.may_judge_here()) {
    if (!command.options.policy) message.policy.clear();
    return ask_service(**command.context.system, message);
  }
  SALLYPORT_TRY(Workspace::Place place, command.context.place());
  SALLYPORT_TRY(std::optional<HookAnswer> answer, ask_hook_door(place.data_dir, message));
  if (answer) return std::move(*answer);
  return judge_here(std::move(place), question);
}

// Libraries throw if threads or open files run out. A host would take our exit code for a yes.
Result<HookAnswer> judge_in_any_case(const HookCommand& command, const HookQuestion& question,
                                     std::string text) {
  try {
    return judge(command, question, std::move(text));
  } catch (const std::exception& fault) {
    return fail(ErrorCode::Internal, fmt::format("unexpected: {}", fault.what()));
  }
}

bool write_line(int stream, std::string line) {
  line += '\n';
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t written = write(stream, left.data(), left.size());
    if (written <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// The exit code. Silence would be a yes.
int print_answer(const HookAnswer& answer) {
  if (!answer.notice.empty()) (void)write_line(STDERR_FILENO, answer.notice);
  if (answer.output.empty() || write_line(STDOUT_FILENO, answer.output)) return 0;
  (void)write_line(STDERR_FILENO,
                   fmt::format("sallyport: the decision cannot be written to standard output "
                               "({}), so this is refused; `sallyport ledger tail` shows it",
                               std::strerror(errno)));
  return kDeniedWithoutAnswer;
}

Result<int> answer_hook(const Context& context, const HookOptions& options) {
  LastWord last(kBudget);
  HookQuestion question = question_of(context, options);
  last.prepare(last_word(question));
  const HookCommand command{context, options};
  EarlyWord early(last, question);
  Result<std::string> text =
      read_input("-", hook::kMostOfEvent, [&](std::string_view begun) { early.take(begun); });
  const Result<void> read = read_event(question, text);
  if (question.event.kind == Event::Kind::Other) return 0;
  last.prepare(last_word(question));
  Result<HookAnswer> answer = read ? judge_in_any_case(command, question, std::move(*text))
                                   : Result<HookAnswer>(std::unexpected(read.error()));
  if (!answer) {
    answer = command.may_judge_here() ? failure(question, answer.error())
                                      : refusal(question, answer.error());
  }
  last.leave_to_us();
  return print_answer(*answer);
}

const Command kHook("hook", "decide one event of a coding agent, from standard input", answer_hook,
                    [](Syntax& syntax, HookOptions& options) {
                      syntax.text("--agent", options.agent, "the coding agent that sends the event")
                          .choices(hook::dialect_names())
                          .required();
                      syntax.text("--policy", options.policy,
                                  "policy file, or the name of a shipped policy [starter]",
                                  "POLICY");
                      syntax
                          .text("--interactive", options.interactive,
                                "whether the agent's user can be asked [auto]")
                          .choices({"auto", "yes", "no"});
                    });

}  // namespace

}  // namespace sallyport::app
