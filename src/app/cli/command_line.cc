#include "app/cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/command_grammar.h"
#include "app/cli/verbs.h"
#include "app/version.h"
#include "base/nearest.h"

namespace sallyport::app {

namespace {

// The command that was understood, without the program's name.
std::string understood(const CLI::App& app) {
  std::string path;
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    path += (path.empty() ? "" : " ") + at->get_name();
  }
  return path;
}

std::vector<std::string> option_names(const CommandInfo& root, const std::string& path) {
  std::vector<std::string> names;
  const CommandInfo* at = &root;
  std::string rest = path + " ";
  while (at != nullptr) {
    for (const OptionInfo& option : at->options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
    const std::string word = rest.substr(0, rest.find(' '));
    rest.erase(0, word.size() + 1);
    const auto next = std::ranges::find(at->commands, word, &CommandInfo::name);
    at = next == at->commands.end() ? nullptr : &*next;
  }
  return names;
}

std::unexpected<Error> usage(std::string message) {
  return fail(ErrorCode::InvalidInput, std::move(message));
}

std::unexpected<Error> explain(CommandLine& line, const CLI::ParseError& error) {
  const std::string path = understood(line.app());
  const std::string help = fmt::format("run `sallyport{}{} --help`", path.empty() ? "" : " ", path);
  // A value that does not fit ends the reading: what is behind it was not looked at yet.
  if (error.get_name() == "ValidationError" || error.get_name() == "ConversionError") {
    return usage(fmt::format("{}; {}", error.what(), help));
  }
  const std::vector<std::string> rest = line.app().remaining(true);
  const bool needs_verb =
      error.get_name() == "RequiredError" &&
      std::string_view(error.what()).find("subcommand") != std::string_view::npos;
  if (!rest.empty() && rest.front().starts_with('-') && rest.front().size() > 1) {
    const std::string name = rest.front().substr(0, rest.front().find('='));
    return usage(fmt::format("unknown option `{}`{}; {}", name,
                             did_you_mean(name, option_names(line.table(), path)), help));
  }
  if (needs_verb && rest.empty()) return usage(fmt::format("a command is missing; {}", help));
  if (needs_verb) return usage(about_unknown_verb(line.table(), path, rest.front()));
  if (!rest.empty())
    return usage(
        fmt::format("`{}` is one argument too many; {}", rest.front().substr(0, 200), help));
  return usage(fmt::format("{}; {}", error.what(), help));
}

}  // namespace

Result<std::variant<Invocation, Answer>> parse_command_line(std::vector<std::string> arguments) {
  CommandLine line;
  const bool json = std::ranges::find(arguments, "--json") != arguments.end();
  if (arguments.empty()) return Answer{line.app().help()};
  try {
    line.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return Answer{line.app().help()};
  } catch (const CLI::CallForVersion&) {
    return Answer{json ? fmt::format("{{\"version\":\"{}\"}}\n", version())
                       : fmt::format("sallyport {}\n", version())};
  } catch (const CLI::ParseError& error) {
    return explain(line, error);
  }
  Invocation invocation = line.invocation();
  invocation.command = understood(line.app());
  return invocation;
}

CommandInfo command_table() {
  return CommandLine().table();
}

}  // namespace sallyport::app
