#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <ranges>

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/verbs.h"
#include "workspace/version.h"

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
    Group{"pins", "pinned tool definitions, and their changes"},
    Group{"guard", "try guardrails; nothing is recorded"},
    Group{"policy", "check, test and explain policies"},
    Group{"ledger", "read, prove, export and maintain the record"},
    Group{"ledger hold", "forbid erasing and pruning"},
    Group{"keys", "verifier keys, past and present"},
    Group{"approvals", "approval requests and escalations that wait for a person"},
    Group{"passkeys", "keys that sign answers in the web console"},
    Group{"trust", "trust records and autonomy tiers of agents"},
    Group{"grants", "capability grants: signed permissions that expire"},
    Group{"agent", "Sallyport's own agent, behind the same gates"},
};

// Parents before children, in the order of the help, then by name.
std::pair<std::size_t, std::string_view> place_in_help(const Command* command) {
  const std::string_view path = command->path();
  const auto place = std::ranges::find(kOrder, path.substr(0, path.find(' ')));
  return {place - kOrder.begin(), path};
}

// True if each word of a command's path is among the arguments.
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
  syntax.flag("--json", globals_.json, "print JSON, one object per line");
  CLI::Option* const color = app_.add_option_function<std::string>(
      "--color",
      [this](const std::string& value) {
        globals_.color = value == "always"  ? ColorMode::Always
                         : value == "never" ? ColorMode::Never
                                            : ColorMode::Auto;
      },
      "colours in the output [auto]");
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
// The library writes a second empty line after a hidden option.
std::string help_of(CLI::App& app) {
  std::string help = app.help();
  constexpr std::string_view kTwice = "\n\n\n";
  for (std::size_t at = help.find(kTwice); at != std::string::npos; at = help.find(kTwice, at)) {
    help.erase(at, 1);
  }
  return help;
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

// `ID|CALL` for an argument of the command that was understood, else its name.
std::string shown_name(const CLI::App& app, const std::string& name) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  const CLI::Option* const option = at->get_option_no_throw(name);
  if (option == nullptr || !option->get_positional()) return name;
  const std::string type = option->get_type_name();
  return type.empty() || type == "TEXT" ? name : type;
}

// True if the command that was understood, or one above it, has a flag of this name.
bool is_flag(const CLI::App& app, const std::string& name) {
  for (const CLI::App* at = &app; at != nullptr;) {
    const CLI::Option* const option = at->get_option_no_throw(name);
    if (option != nullptr) return option->get_expected_max() == 0;
    at = at->get_subcommands().empty() ? nullptr : at->get_subcommands().front();
  }
  return false;
}

// `{a,b,c}` -> `a, b or c`
std::string alternatives(std::string_view set) {
  std::string words;
  std::string_view before;
  for (std::string_view rest = set; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const bool last = end == rest.size();
    words += fmt::format("{}{}", last && !before.empty() ? " or " : before, rest.substr(0, end));
    rest.remove_prefix(last ? end : end + 1);
    before = ", ";
  }
  return words;
}

// The text of the library in words of this program. Empty: there is no other text.
std::string reworded(const CLI::App& app, const CLI::ParseError& error, const std::string& help) {
  const std::string_view said = error.what();
  const auto around = [&](std::string_view middle) {
    const std::size_t at = said.find(middle);
    const std::size_t end = at == std::string_view::npos ? said.size() : at + middle.size();
    return std::pair(said.substr(0, at), said.substr(end));
  };
  const auto [name, rest] = around(": ");
  const std::string kind = error.get_name();
  if (kind == "ValidationError") {
    const std::size_t set = rest.rfind(" not in {");
    if (set == std::string_view::npos) return std::string(said);  // our own text
    const std::string_view known = rest.substr(set + 9, rest.size() - set - 10);
    return fmt::format("{} is `{:.80}`; use {}", name, rest.substr(0, set), alternatives(known));
  }
  if (kind == "ConversionError") {
    const auto [before, value] = around(" = ");
    const std::size_t colon = before.find(": ");
    if (colon == std::string_view::npos) return {};
    const std::string_view option = before.substr(colon + 2);
    if (is_flag(app, std::string(option))) {
      return fmt::format("{} takes no value, and `{:.80}` is one; write {} alone", option, value,
                         option);
    }
    // All numbers are ports.
    return fmt::format("{} is `{:.80}`; use a number from 0 to 65535", option, value);
  }
  if (kind == "ArgumentMismatch" && rest.starts_with("At Most 1 ")) {
    return fmt::format("{} is given more than once; give it once", name);
  }
  if (kind == "ArgumentMismatch" && rest.starts_with("1 required ")) {
    const std::string_view value = rest.substr(11);
    return fmt::format("{} needs {}; {}", name, value.substr(0, value.rfind(' ')), help);
  }
  if (kind == "RequiresError") {
    const auto [one, other] = around(" requires ");
    return fmt::format("{} needs {}; {}", one, other, help);
  }
  if (kind == "ExcludesError") {
    const auto [one, other] = around(" excludes ");
    if (!one.starts_with('-')) return fmt::format("{} takes no {}; {}", other, one, help);
    if (!other.starts_with('-')) return fmt::format("{} takes no {}; {}", one, other, help);
    return fmt::format("give {} or {}, not both; {}", one, other, help);
  }
  if (kind == "RequiredError" && said.ends_with(" is required")) {
    const auto [missing, none] = around(" is required");
    return fmt::format("{} is missing; {}", shown_name(app, std::string(missing)), help);
  }
  return {};
}

std::unexpected<Error> explain(Parser& line, const CLI::ParseError& error) {
  const std::string path = understood(line.app());
  const std::string help = fmt::format("run `sallyport{}{} --help`", path.empty() ? "" : " ", path);
  std::string own = reworded(line.app(), error, help);
  if (own.empty()) own = fmt::format("{}; {}", error.what(), help);
  // A value that does not fit ends the reading: what is behind it was not looked at yet.
  const std::string kind = error.get_name();
  if (kind == "ValidationError" || kind == "ConversionError" || kind == "ArgumentMismatch") {
    return usage(std::move(own));
  }
  const std::vector<std::string> rest = line.app().remaining(true);
  const bool needs_verb =
      kind == "RequiredError" &&
      std::string_view(error.what()).find("subcommand") != std::string_view::npos;
  if (!rest.empty() && rest.front().starts_with('-') && rest.front().size() > 1) {
    const std::string name = rest.front().substr(0, rest.front().find('='));
    return usage(fmt::format("unknown option `{}`{}; {}", name,
                             did_you_mean(name, option_names(line.table(), path)), help));
  }
  if (needs_verb && rest.empty()) return usage(fmt::format("a command is missing; {}", help));
  if (needs_verb) return usage(about_unknown_verb(line.table(), path, rest.front()));
  if (!rest.empty())
    return usage(fmt::format("unexpected argument `{}`; {}", rest.front().substr(0, 200), help));
  return usage(std::move(own));
}

// `--name=` gives an empty value. The library would take the next argument as the value.
void spell_out_empty_values(std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    std::string& word = arguments[i];
    const bool empty = word.starts_with("--") && word.find('=') == word.size() - 1;
    if (!empty) continue;
    word.pop_back();
    arguments.emplace(arguments.begin() + static_cast<std::ptrdiff_t>(++i));
  }
}

}  // namespace

Result<std::variant<Invocation, HelpText>> parse_command_line(std::vector<std::string> arguments) {
  Parser line(&arguments);
  const bool json = std::ranges::find(arguments, "--json") != arguments.end();
  if (arguments.empty()) return HelpText{help_of(line.app())};
  spell_out_empty_values(arguments);
  try {
    line.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return HelpText{help_of(line.app())};
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
