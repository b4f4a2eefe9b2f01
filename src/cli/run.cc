#include "cli/run.h"

#include <unistd.h>

#include <cstdio>

#include "cli/command_line.h"
#include "daemon_client/refused_to_user.h"
#include "terminal/exit_code.h"
#include "terminal/output.h"
#include "terminal/terminal.h"

namespace sallyport::app {

namespace {

int print_error(const Error& error) {
  const std::string line = error_line(error) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  return exit_code(error);
}

Result<int> carry_out(const Invocation& invocation) {
  const Environment environment = Environment::of_this_process();
  Context context{invocation.globals, environment,
                  Terminal::on(STDOUT_FILENO, invocation.globals.color, environment),
                  invocation.command, system_setup()};
  // The account of the service finds its folder without options.
  const bool of_service = context.system && *context.system && belongs_to_service(**context.system);
  if (of_service && !context.globals.data_dir && !context.globals.config && !environment.data_dir) {
    context.globals.config = (*context.system)->config;
  }
  return invocation.run(context);
}

}  // namespace

int run(std::vector<std::string> arguments) {
  Result<std::variant<Invocation, HelpText>> asked = parse_command_line(std::move(arguments));
  if (!asked) return print_error(asked.error());
  if (const HelpText* const help = std::get_if<HelpText>(&*asked)) {
    const Result<void> written = write_output(std::nullopt, help->text);
    return written ? 0 : print_error(written.error());
  }
  const Result<int> code = carry_out(std::get<Invocation>(*asked));
  const Result<void> written = finish_output();
  if (!code) return print_error(code.error());
  if (!written) return print_error(written.error());
  return *code;
}

}  // namespace sallyport::app
