#include "app/cli/command_grammar.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/output.h"
#include "app/version.h"

namespace sallyport::app {

namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done or valid, 1 refused or not valid, 64 wrong usage, 70 internal error.\n"
    "Data lives in --data-dir; `sallyport doctor` looks at everything that is odd.";

}  // namespace

CommandLine::CommandLine()
    : app_("A gate around AI agents' tool calls, with a record that can be proved.") {
  app_.name("sallyport");
  app_.footer(kFooter);
  app_.require_subcommand(1);
  app_.fallthrough();
  app_.get_formatter()->column_width(34);
  add_globals();
  add_demo();
  add_mcp();
  add_serve();
  add_console();
  add_passkeys();
  add_hook();
  add_setup();
  add_guard();
  add_policy();
  add_ledger();
  add_verify();
  add_approvals();
  add_trust();
  add_grants();
  add_keys();
  add_agent();
  simple(app_, "doctor", "look at everything a ledger depends on, and say what to do", doctor);
  add_completion();
}

void CommandLine::parse(std::vector<std::string> arguments) {
  std::ranges::reverse(arguments);
  app_.parse(std::move(arguments));
}

CLI::App& CommandLine::simple(CLI::App& under, const char* name, const char* description,
                              Result<int> (*run)(const Context&)) {
  CLI::App* const sub = under.add_subcommand(name, description);
  sub->callback([this, run] { run_ = run; });
  return *sub;
}

CLI::Option* CommandLine::text(CLI::App& app, const char* name, std::optional<std::string>& out,
                               const char* description, const char* type) {
  return app
      .add_option_function<std::string>(
          name, [&out](const std::string& value) { out = value; }, description)
      ->type_name(type);
}

CLI::Option* CommandLine::text(CLI::App& app, const char* name, std::string& out,
                               const char* description, const char* type) {
  return app.add_option(name, out, description)->type_name(type);
}

CLI::Option* CommandLine::file(CLI::App& app, const char* name,
                               std::optional<std::filesystem::path>& out, const char* description,
                               const char* type) {
  CLI::Option* const option =
      app.add_option_function<std::string>(
             name, [&out](const std::string& value) { out = value; }, description)
          ->type_name(type);
  files_.insert(option);
  return option;
}

CLI::Option* CommandLine::files(CLI::App& app, const char* name,
                                std::vector<std::filesystem::path>& out, const char* description) {
  CLI::Option* const option = app.add_option_function<std::vector<std::string>>(
      name,
      [&out](const std::vector<std::string>& values) { out.assign(values.begin(), values.end()); },
      description);
  option->type_name("FILE");
  files_.insert(option);
  return option;
}

void CommandLine::lists(CLI::App& app, std::vector<std::filesystem::path>& out) {
  files(app, "--reviewers", out,
        "believe these people too who signed changes of tiers; may be repeated")
      ->take_all()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* CommandLine::choice(CLI::Option* option, std::vector<std::string> choices) {
  option->type_name(fmt::format("{}", fmt::join(choices, "|")));
  CLI::Validator known = CLI::IsMember(choices);
  option->check(known.description(""));  // the type says it
  choices_[option] = std::move(choices);
  return option;
}

void CommandLine::add_globals() {
  file(app_, "--data-dir", globals_.data_dir,
       "where data lives [$SALLYPORT_DATA_DIR, $XDG_STATE_HOME/sallyport or "
       "~/.local/state/sallyport]",
       "FOLDER");
  file(app_, "--config", globals_.config, "configuration file [<data-dir>/config.yaml]");
  app_.add_flag("--json", globals_.json, "answers as JSON, one object a line");
  CLI::Option* const color = app_.add_option_function<std::string>(
      "--color",
      [this](const std::string& value) {
        globals_.color = value == "always"  ? ColorMode::Always
                         : value == "never" ? ColorMode::Never
                                            : ColorMode::Auto;
      },
      "colours in the output");
  choice(color, {"auto", "always", "never"});
  app_.add_flag("--allow-network-fs", globals_.allow_network_fs,
                "use a data folder on a network file system; this is recorded");
  app_.set_version_flag("--version", std::string(version()), "print the version");
  app_.set_help_flag("-h,--help", "print this help");
}

void CommandLine::add_filters(CLI::App& app, FilterOptions& filter) {
  text(app, "--call", filter.call, "only of this call", "ID");
  text(app, "--session", filter.session, "only of this session", "ID");
  text(app, "--run", filter.run, "only of this run of an agent", "ID");
  text(app, "--agent", filter.agent, "only of this agent", "ID");
  text(app, "--server", filter.server, "only of this tool server", "NAME");
  text(app, "--tool", filter.tool, "only of this tool", "NAME");
  text(app, "--outcome", filter.outcome, "only with this outcome", "NAME");
  text(app, "--kind", filter.kind, "only of this kind", "KIND");
  text(app, "--topic", filter.topic, "only of this topic", "NAME");
  text(app, "--tool-call-id", filter.tool_call, "only with this id of the model", "ID");
  text(app, "--approval", filter.approval, "only calls that asked this", "ID");
  text(app, "--event-type", filter.event_type, "only events of this type", "TYPE");
  text(app, "--terminal", filter.terminal, "only records that end a call, or do not", "true|false");
  text(app, "--since", filter.since, "not before this time, or so long ago", "TIME|1h");
  text(app, "--until", filter.until, "before this time", "TIME|1h");
  text(app, "--after", filter.after, "behind this sequence", "SEQUENCE");
}

void CommandLine::add_selection(CLI::App& app, SelectionOptions& selection) {
  text(app, "--call", selection.call, "what belongs to this call", "ID");
  text(app, "--session", selection.session, "what belongs to this session", "ID");
  text(app, "--agent", selection.agent, "what belongs to this agent", "ID");
  text(app, "--kind", selection.kind, "entries of this kind", "KIND");
  text(app, "--since", selection.since, "not before this time", "TIME");
  text(app, "--until", selection.until, "before this time", "TIME");
}

CLI::Option* CommandLine::required_file(CLI::App& app, const char* name, std::filesystem::path& out,
                                        const char* description) {
  CLI::Option* const option =
      app.add_option_function<std::string>(
             name, [&out](const std::string& value) { out = value; }, description)
          ->type_name("FILE")
          ->required();
  files_.insert(option);
  return option;
}

void CommandLine::add_completion() {
  CLI::App* const sub = app_.add_subcommand("completion", "print a completion script for a shell");
  choice(text(*sub, "shell", shell_, "for which shell")->required(), {"bash", "zsh", "fish"});
  sub->callback([this] {
    run_ = [shell = shell_](const Context&) -> Result<int> {
      const CommandInfo table = command_table();
      const std::string script = shell == "bash"  ? bash_completion(table)
                                 : shell == "zsh" ? zsh_completion(table)
                                                  : fish_completion(table);
      if (Result<void> written = write_output(std::nullopt, script); !written) {
        return std::unexpected(written.error());
      }
      return 0;
    };
  });
}

CommandInfo CommandLine::describe(const CLI::App& app) const {
  CommandInfo info{.name = app.get_name(), .description = app.get_description()};
  for (const CLI::Option* const option : app.get_options()) {
    const bool file = files_.contains(option);
    const auto choices = choices_.find(option);
    const std::vector<std::string> known =
        choices == choices_.end() ? std::vector<std::string>{} : choices->second;
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

}  // namespace sallyport::app
