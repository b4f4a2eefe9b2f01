#include "app/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "app/cli/command_line.h"
#include "app/output.h"
#include "app/refused_to_user.h"
#include "app/terminal.h"

namespace sallyport::app {

namespace {

int tell(const Error& error) {
  const std::string line = error_line(error) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  return exit_code(error.code);
}

Result<int> carry_out(const Invocation& invocation) {
  const Environment environment = Environment::of_this_process();
  Context context{invocation.globals, environment,
                  Terminal::on(STDOUT_FILENO, invocation.globals.color, environment),
                  invocation.command, system_setup()};
  // The service's own account finds its folder by itself.
  const bool of_service = context.system && *context.system && belongs_to_service(**context.system);
  if (of_service && !context.globals.data_dir && !context.globals.config && !environment.data_dir) {
    context.globals.config = (*context.system)->config;
  }
  return invocation.run(context);
}

}  // namespace

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidInput:
      return kUsage;
    case ErrorCode::Internal:
      return kInternal;
    case ErrorCode::Unauthenticated:
    case ErrorCode::NotFound:
    case ErrorCode::Conflict:
    case ErrorCode::Exhausted:
    case ErrorCode::Deadline:
    case ErrorCode::Cancelled:
    case ErrorCode::Unavailable:
    case ErrorCode::Corrupt:
      return kRefused;
  }
  return kInternal;
}

std::string error_line(const Error& error) {
  const std::size_t advice = std::min(error.message.find("; "), error.message.size());
  return visible(fmt::format("sallyport: {}{}{}{}", error.message.substr(0, advice),
                             error.where.empty() ? "" : ", ", error.where,
                             error.message.substr(advice)));
}

int run(std::vector<std::string> arguments) {
  Result<std::variant<Invocation, Answer>> asked = parse_command_line(std::move(arguments));
  if (!asked) return tell(asked.error());
  if (const Answer* const answer = std::get_if<Answer>(&*asked)) {
    const Result<void> written = write_output(std::nullopt, answer->text);
    return written ? 0 : tell(written.error());
  }
  const Result<int> code = carry_out(std::get<Invocation>(*asked));
  const Result<void> written = finish_output();
  if (!code) return tell(code.error());
  if (!written) return tell(written.error());
  return *code;
}

}  // namespace sallyport::app
