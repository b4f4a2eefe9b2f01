#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <ranges>

#include "app/version.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/verbs.h"

namespace sallyport::app {

namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done or valid, 1 refused or not valid, 64 wrong usage, 70 internal error.\n"
    "Data is in --data-dir; `sallyport doctor` checks the installation.";

// The order of the help. Commands that are not listed come last.
constexpr std::array<std::string_view, 20> kOrder = {
    "demo",  "mcp",    "pins",  "serve",  "console", "passkeys",   "hook",
    "init",  "setup",  "guard", "policy", "ledger",  "verify",     "approvals",
    "trust", "grants", "keys",  "agent",  "doctor",  "completion",
};

// Words that only stand before others.
struct Group {
  const char* path;
  const char* description;
};
constexpr std::array kGroups = {
    Group{"pins", "tool definitions, and those that have changed"},
    Group{"guard", "try guardrails; nothing is recorded"},
    Group{"policy", "what policies are made of"},
    Group{"ledger", "read, prove, export and maintain the record"},
    Group{"ledger hold", "forbid erasing and pruning"},
    Group{"keys", "verifier keys, past and present"},
    Group{"approvals", "what waits for a person"},
    Group{"passkeys", "keys that answer in the web console"},
    Group{"trust", "what agents did, and what they may do"},
    Group{"grants", "who may call what, signed and expiring"},
    Group{"agent", "an agent of our own, behind the gates"},
};

// Parents before children, in the order of the help, then by name.
std::pair<std::size_t, std::string_view> place_in_help(const Command* command) {
  const std::string_view path = command->path();
  const auto place = std::ranges::find(kOrder, path.substr(0, path.find(' ')));
  return {place - kOrder.begin(), path};
}

// Whether each word of a command's path stands among the arguments.
bool may_be_meant(std::string_view path, const std::vector<std::string>& arguments) {
  for (const auto word : std::views::split(path, ' ')) {
    if (std::ranges::find(arguments, std::string_view(word)) == arguments.end()) return false;
  }
  return true;
}

// Every command in one parser. The invocation that it finds keeps its options and may outlive it.
// Only commands that `arguments` may mean have options, because all options of all commands cost each
// start a millisecond. Without `arguments` every command has them.
class Parser {
 public:
  explicit Parser(const std::vector<std::string>* arguments)
      : app_("A gate around AI agents' tool calls, with a record that can be proved.") {
    app_.name("sallyport");
    app_.footer(kFooter);
    app_.require_subcommand(1);
    app_.fallthrough();
    app_.get_formatter()->column_width(34);
    add_globals();
    std::vector<const Command*> commands = Command::all();
    std::ranges::sort(commands, {}, place_in_help);
    for (const Command* const command : commands) {
      CLI::App& app = at(command->path(), command->description());
      if (arguments == nullptr || may_be_meant(command->path(), *arguments)) prepare(*command, app);
    }
  }

  void parse(std::vector<std::string> arguments) {
    std::ranges::reverse(arguments);
    app_.parse(std::move(arguments));
  }

  const CLI::App& app() const { return app_; }
  CLI::App& app() { return app_; }
  Invocation invocation() const { return {globals_, {}, run_}; }
  CommandInfo table() const { return describe(app_); }

 private:
  void add_globals();

  // The subcommand `path`, made if it is not there.
  CLI::App& at(std::string_view path, const std::string& description) {
    const std::size_t space = path.rfind(' ');
    CLI::App* parent = &app_;
    if (space != std::string_view::npos) {
      const std::string_view above = path.substr(0, space);
      const auto group = std::ranges::find(
          kGroups, above, [](const Group& one) { return std::string_view(one.path); });
      parent = &at(above, group == kGroups.end() ? "" : group->description);
      if (group != kGroups.end()) parent->require_subcommand(1);
    }
    const std::string name(path.substr(space == std::string_view::npos ? 0 : space + 1));
    for (CLI::App* const known : parent->get_subcommands([](CLI::App*) { return true; })) {
      if (known->get_name() == name) return *known;
    }
    return *parent->add_subcommand(name, description);
  }

  void prepare(const Command& command, CLI::App& app) {
    Syntax syntax(app, notes_);
    Command::Run run = command.prepare(syntax);
    app.callback([this, &app, run = std::move(run)] {
      // The library calls a command behind its own subcommands as well.
      if (app.get_subcommands().empty()) run_ = run;
    });
  }

  CommandInfo describe(const CLI::App& app) const;

  CLI::App app_;
  OptionNotes notes_;
  Globals globals_;
  Command::Run run_;
};

void Parser::add_globals() {
  Syntax syntax(app_, notes_);
  syntax.file("--data-dir", globals_.data_dir,
              "the data folder [$SALLYPORT_DATA_DIR, $XDG_STATE_HOME/sallyport or "
              "~/.local/state/sallyport]",
              "FOLDER");
  syntax.file("--config", globals_.config, "configuration file [<data-dir>/config.yaml]");
  syntax.flag("--json", globals_.json, "answers as JSON, one object a line");
  CLI::Option* const color = app_.add_option_function<std::string>(
      "--color",
      [this](const std::string& value) {
        globals_.color = value == "always"  ? ColorMode::Always
                         : value == "never" ? ColorMode::Never
                                            : ColorMode::Auto;
      },
      "colours in the output");
  Option(*color, notes_).choices({"auto", "always", "never"});
  syntax.flag("--allow-network-fs", globals_.allow_network_fs,
              "use a data folder on a network file system; this is recorded");
  app_.set_version_flag("--version", std::string(version()), "print the version");
  app_.set_help_flag("-h,--help", "print this help");
}

CommandInfo Parser::describe(const CLI::App& app) const {
  CommandInfo info{.name = app.get_name(), .description = app.get_description()};
  for (const CLI::Option* const option : app.get_options()) {
    const bool file = notes_.files.contains(option);
    const auto choices = notes_.choices.find(option);
    const std::vector<std::string> known =
        choices == notes_.choices.end() ? std::vector<std::string>{} : choices->second;
    if (option->get_positional()) {
      info.takes_files = info.takes_files || file;
      info.words.insert(info.words.end(), known.begin(), known.end());
      continue;
    }
    // Help is everywhere, and so stands once, among the global options.
    const bool help = option == app.get_help_ptr() && &app != &app_;
    if (help || option->get_group().empty()) continue;
    OptionInfo one{.description = option->get_description(),
                   .takes_value = option->get_expected_max() > 0,
                   .takes_file = file,
                   .choices = known};
    for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
    info.options.push_back(std::move(one));
  }
  for (const CLI::App* const sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    info.commands.push_back(describe(*sub));
  }
  return info;
}
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

std::unexpected<Error> explain(Parser& line, const CLI::ParseError& error) {
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

Result<std::variant<Invocation, HelpText>> parse_command_line(std::vector<std::string> arguments) {
  Parser line(&arguments);
  const bool json = std::ranges::find(arguments, "--json") != arguments.end();
  if (arguments.empty()) return HelpText{line.app().help()};
  try {
    line.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return HelpText{line.app().help()};
  } catch (const CLI::CallForVersion&) {
    return HelpText{json ? fmt::format("{{\"version\":\"{}\"}}\n", version())
                         : fmt::format("sallyport {}\n", version())};
  } catch (const CLI::ParseError& error) {
    return explain(line, error);
  }
  Invocation invocation = line.invocation();
  invocation.command = understood(line.app());
  return invocation;
}

CommandInfo command_table() {
  return Parser(nullptr).table();
}

}  // namespace sallyport::app
