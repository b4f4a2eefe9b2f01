// Parses the command line. The grammar is in command_grammar.h.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "cli/completion.h"
#include "workspace/context.h"

namespace sallyport::app {

// A parsed command that has not run yet.
struct Invocation {
  Globals globals;
  std::string command;  // as `approvals approve`
  std::function<Result<int>(const Context&)> run;
};

// The text of help or version.
struct HelpText {
  std::string text;
};

// `InvalidInput` with a message that says what to type instead.
Result<std::variant<Invocation, HelpText>> parse_command_line(std::vector<std::string> arguments);

CommandInfo command_table();

}  // namespace sallyport::app
