// What was typed, understood. The grammar is in command_grammar.h.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "app/context.h"
#include "cli/completion.h"

namespace sallyport::app {

// What was asked for, still to be done.
struct Invocation {
  Globals globals;
  std::string command;  // as `approvals approve`
  std::function<Result<int>(const Context&)> run;
};

// What can be answered at once: help and version.
struct HelpText {
  std::string text;
};

// `InvalidInput` with a message that says what to type instead.
Result<std::variant<Invocation, HelpText>> parse_command_line(std::vector<std::string> arguments);

CommandInfo command_table();

}  // namespace sallyport::app
