#include "app/cli/command_grammar.h"
#include "app/setup/wiring.h"
#include "base/try.h"
#include "hook/dialect.h"

namespace sallyport::app {

void CommandLine::add_demo() {
  CLI::App* const sub =
      app_.add_subcommand("demo", "a scripted agent through the real gates; no network, no set-up");
  sub->add_flag("--plain", demo_.plain, "neither colours nor redrawing");
  sub->add_flag("--keep", demo_.keep, "keep the demo's data folder");
  sub->add_flag("--no-pause", demo_.no_pause, "do not pause between steps");
  sub->add_flag("--yes", demo_.yes, "let the script answer the question that you would be asked");
  text(*sub, "--stage", demo_.stage, "which process of the demo this is")->group("");
  sub->callback([this] {
    run_ = [demo = demo_](const Context& context) -> Result<int> {
      DemoOptions options = demo;
      options.json = context.json();
      options.colour = context.terminal.colour() && !demo.plain;
      if (context.globals.data_dir) {
        SALLYPORT_TRY(options.place, context.place());
      }
      return run_demo(options);
    };
  });
}

void CommandLine::add_serve() {
  CLI::App& sub =
      command(app_, "serve", "serve agents over HTTP, as the configuration says", serve_, serve);
  text(sub, "--policy", serve_.policy, "instead of the one in the configuration", "POLICY");
  choice(text(sub, "--log", serve_.log, "how lines of the log are written [text]"),
         {"text", "json"});
  sub.footer(
      "Servers, tokens and the address to listen on stand in the file that --config names\n"
      "[<data-dir>/config.yaml], as in `sallyport serve --config prod.yaml`. SIGHUP reads it "
      "again.\n"
      "`sallyport policy schema config` prints its keys, `sallyport --help` the other options.");
}

void CommandLine::add_oauth(CLI::App& sub, OAuthOptions& options) {
  text(sub, "--client-id", options.client_id, "of a client that was registered by hand", "ID");
  text(sub, "--client-secret-env", options.client_secret_env, "the variable that holds its secret",
       "NAME");
  file(sub, "--client-secret-file", options.client_secret_file, "the file that holds its secret");
  file(sub, "--client-key-file", options.client_key_file, "its private key (PEM), instead");
  sub.add_flag("--client-credentials", options.client_credentials,
               "the client is let in by itself, no person");
  text(sub, "--issuer", options.issuer, "the authorization server that it is a client of", "URL");
  text(sub, "--scope", options.scope, "what to ask for [what the server says]", "WORDS");
  sub.add_option("--redirect-port", options.redirect_port,
                 "of 127.0.0.1, to come back to from the browser [any]")
      ->type_name("PORT");
}

void CommandLine::add_mcp() {
  CLI::App& sub = command(app_, "mcp", "put the gate before a tool server, on standard streams",
                          mcp_, wrap_mcp_server);
  text(sub, "--policy", mcp_.policy, "a file, or a shipped one by its name [starter]", "POLICY");
  text(sub, "--name", mcp_.name, "name of the server in records [from its command]", "NAME");
  text(sub, "--url", mcp_.url, "reach the server there instead of starting one", "URL");
  text(sub, "--bearer-env", mcp_.bearer_env, "the variable that holds our token for it", "NAME");
  sub.add_flag("--allow-http", mcp_.allow_http, "no encryption on the way to another machine");
  sub.add_flag("--login", mcp_.login, "open a browser where the server asks for a login");
  add_oauth(sub, mcp_.oauth);
  choice(text(sub, "--era", mcp_.era, "of the protocol that the server speaks [auto]"),
         {"auto", "legacy", "modern"});
  text(sub, "--grant", mcp_.grant, "token for calls that bring none [$SALLYPORT_GRANT]", "FILE");
  sub.add_option("command", mcp_.command, "the server's command, behind `--`")
      ->type_name("-- COMMAND...");
  CLI::App& login =
      command(sub, "login", "let us in at a tool server, with a browser", mcp_login_, mcp_login);
  text(login, "--url", mcp_login_.url, "of the tool server", "URL")->required();
  login.add_flag("--allow-http", mcp_login_.allow_http,
                 "no encryption on the way to another machine");
  add_oauth(login, mcp_login_.oauth);
  text(login, "--wait", mcp_login_.wait, "for the person, as 90s or 10m [5m]", "TIME");
  login.add_flag("--no-browser", mcp_login_.no_browser, "only print the address to open");
  CLI::App& logout =
      command(sub, "logout", "forget the tokens for a tool server", mcp_logout_, mcp_logout);
  text(logout, "--url", mcp_logout_.url, "of the tool server", "URL")->required();
  logout.add_flag("--allow-http", mcp_logout_.allow_http,
                  "no encryption on the way to another machine");
  // CLI11 calls the callback of `mcp` as well, and last.
  sub.callback([this, &sub] {
    if (!sub.get_subcommands().empty()) return;
    run_ = [options = mcp_](const Context& context) { return wrap_mcp_server(context, options); };
  });
  CLI::App& pins = *app_.add_subcommand("pins", "tool definitions, and those that have changed");
  pins.require_subcommand(1);
  CLI::App& list = command(pins, "list", "what is pinned", pins_list_, pins_list);
  CLI::App& diff = command(pins, "diff", "what has changed", pins_diff_, pins_diff);
  CLI::App& accept = command(pins, "accept", "take a changed definition as the good one",
                             pins_accept_, pins_accept);
  for (auto [app, options] : {std::pair(&list, &pins_list_), std::pair(&diff, &pins_diff_),
                              std::pair(&accept, &pins_accept_)}) {
    text(*app, "server", options->server, "only of this server", "SERVER");
    text(*app, "tool", options->tool, "only this tool", "TOOL");
  }
  add_person(accept, pins_accept_.login);
}

void CommandLine::add_hook() {
  CLI::App& hook =
      command(app_, "hook", "decide about one event of a coding agent, on standard input", hook_,
              answer_hook);
  choice(text(hook, "--agent", hook_.agent, "whose event it is"), hook::dialect_names())
      ->required();
  text(hook, "--policy", hook_.policy, "a file, or a shipped one by its name [starter]", "POLICY");
  choice(text(hook, "--interactive", hook_.interactive,
              "whether the agent's user can be asked [auto]"),
         {"auto", "yes", "no"});
  CLI::App& init = command(app_, "init", "put the gate into the settings of an agent or a client",
                           init_, app::init);
  choice(text(init, "--agent", init_.agent, "install the hook of this coding agent"),
         hook::dialect_names());
  choice(
      text(init, "--client", init_.client, "lead the MCP servers of this client through the gate"),
      client_names());
  file(init, "--file", init_.file, "its settings [where the program keeps them]");
  text(init, "--policy", init_.policy, "the policy that decides then [coding]", "POLICY");
  init.add_flag("--print", init_.print, "print the settings, write nothing");
  init.add_flag("--undo", init_.undo, "take it out again");
  init.add_flag("--dry-run", init_.dry_run, "say what would be changed");
}

void CommandLine::add_setup() {
  CLI::App& sub = command(
      app_, "setup", "set up this machine: a service with an account of its own", setup_, setup);
  sub.add_flag("--system", setup_.system, "install account, folders, unit and sockets; needs root");
  sub.add_flag("--undo", setup_.undo, "remove what was installed; the ledger stays");
  sub.add_flag("--purge", setup_.purge, "with --undo: also the ledger, its keys and its account");
  sub.add_flag("--dry-run", setup_.dry_run, "say each step, change nothing");
  text(sub, "--user", setup_.user, "the account of the service [sallyport]", "NAME");
  file(sub, "--root", setup_.root, "below this folder instead of /", "DIR");
}

void CommandLine::add_guard() {
  const std::vector<std::string> stages = {"input", "output", "tool_use", "tool_output"};
  CLI::App& guard = *app_.add_subcommand("guard", "try guardrails; nothing is recorded");
  guard.require_subcommand(1);
  CLI::App& check =
      command(guard, "check", "what the checks say of a text", guard_check_, guard_check);
  text(check, "--config", guard_check_.config, "the document, or gallery:NAME", "FILE");
  choice(text(check, "--stage", guard_check_.stage, "which checks"), stages);
  text(check, "--policy", guard_check_.policy,
       "instead of both: all guards of results of this policy, on a result", "NAME");
  text(check, "--tool", guard_check_.tool, "the tool, for the stages of tools", "NAME");
  text(check, "--text-file", guard_check_.text_file, "the text [standard input]", "FILE");
  text(check, "--skip", guard_check_.skip, "checks to leave out, by their place", "N,N,..");
  CLI::App& stream =
      command(guard, "stream", "what would leave, delta by delta", guard_stream_, guard_stream);
  text(stream, "--config", guard_stream_.config, "the document, or gallery:NAME", "FILE")
      ->required();
  text(stream, "--delta", guard_stream_.delta, "bytes of a delta", "N");
  text(stream, "--splits", guard_stream_.splits, "bytes of each delta; the rest is one more",
       "N,N,..");
  choice(text(stream, "--stage", guard_stream_.stage, "which checks [output]"),
         {"input", "output", "tool_output"});
  text(stream, "--tool", guard_stream_.tool, "the tool, for tool_output", "NAME");
  text(stream, "--text-file", guard_stream_.text_file, "the text [standard input]", "FILE");
  stream.add_flag("--channels", guard_stream_.channels,
                  "the text is a message, a line of JSON for each delta of a channel");
}

void CommandLine::add_backtest(CLI::App& policy) {
  PolicyBacktestOptions& out = policy_backtest_;
  CLI::App& test =
      command(policy, "backtest", "what a policy would have made of recorded calls; runs nothing",
              out, policy_backtest);
  text(test, "candidate", out.candidate, "a policy, or a shipped one by its name", "POLICY")
      ->required();
  text(test, "--against", out.against, "compare with this one [the policy of each call]", "POLICY");
  text(test, "--last", out.last, "how many calls, the newest first [10000]", "N");
  text(test, "--examples", out.examples, "how many calls of each group are named [3]", "N");
  text(test, "--fail-on", out.fail_on, "exit 1 for loosened, refused or undecided:PERCENT", "LIST");
  text(test, "--session", out.session, "only of this session", "ID");
  text(test, "--agent", out.agent, "only of this agent", "ID");
  text(test, "--server", out.server, "only of this tool server", "NAME");
  text(test, "--tool", out.tool, "only of this tool", "NAME");
  text(test, "--since", out.since, "not before this time, or so long ago", "TIME|1h");
  text(test, "--until", out.until, "before this time", "TIME|1h");
}

void CommandLine::add_policy() {
  CLI::App& policy = *app_.add_subcommand("policy", "what policies are made of");
  policy.require_subcommand(1);
  CLI::App& check = command(policy, "check", "is this a policy, and what does it say",
                            policy_check_, policy_check);
  required_file(check, "file", policy_check_.file, "the policy");
  choice(text(check, "--fail-on", policy_check_.fail_on, "what makes it exit with 1 [error]"),
         {"error", "warning"});
  CLI::App& test =
      command(policy, "test", "does it do what its cases say", policy_test_, policy_test);
  test.add_option("file", policy_test_.files,
                  "policies, shipped ones by name, guardrail documents, gallery:NAME or cases")
      ->type_name("FILE")
      ->required();
  test.add_option("--cases", policy_test_.cases,
                  "files of cases, or folders of them [FILE.cases.yaml beside the policy]")
      ->type_name("FILE|FOLDER")
      ->expected(1)
      ->take_all()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  test.add_flag("--coverage", policy_test_.coverage, "list what no case decides by");
  text(test, "--min-coverage", policy_test_.min_coverage,
       "exit 1 where fewer parts of the policy are tested both ways", "PERCENT");
  choice(text(test, "--format", policy_test_.format, "how results are printed [text]"),
         {"text", "json", "junit", "github"});
  CLI::App& explain = command(policy, "explain", "would this call run, and why; runs nothing",
                              policy_explain_, policy_explain);
  text(explain, "call", policy_explain_.call, "a call as JSON, or the id of a recorded one",
       "FILE|CALL")
      ->required();
  text(explain, "--policy", policy_explain_.policy,
       "a file, or a shipped one by its name [that of the recorded call, else starter]", "POLICY");
  text(explain, "--grant", policy_explain_.grant, "the token that the call presents", "FILE");
  explain.add_flag("--now", policy_explain_.now,
                   "judge a recorded call by the policy and the facts of now");
  text(explain, "--at", policy_explain_.at, "the time of now, as 2026-11-16T12:00:00Z", "TIME");
  add_backtest(policy);
  CLI::App& lint = command(policy, "lint", "what can never matter in a policy, with a proof",
                           policy_lint_, policy_lint);
  text(lint, "file", policy_lint_.file,
       "a policy, a shipped one by its name, a guardrail document or gallery:NAME", "FILE")
      ->required();
  choice(text(lint, "--fail-on", policy_lint_.fail_on, "what makes it exit with 1 [error]"),
         {"error", "warning"});
  CLI::App& profiles =
      command(policy, "profiles", "what tools of agents and servers do, and what programs do",
              policy_profiles_, policy_profiles);
  text(profiles, "name", policy_profiles_.name, "only this agent, server or program", "NAME");
  CLI::App& show =
      command(policy, "show", "policies that come with the program", policy_show_, policy_show);
  text(show, "name", policy_show_.name, "print this one; a hash: one that was in force",
       "NAME|HASH");
  CLI::App& gallery = command(policy, "gallery", "guardrails that come with the program",
                              policy_gallery_, policy_gallery);
  text(gallery, "name", policy_gallery_.name, "print this document", "NAME");
  text(gallery, "--locale", policy_gallery_.locale, "names in this language [en]", "en|uk");
  gallery.add_flag("--names", policy_gallery_.names,
                   "what guardrails, their stages, types, actions and reason codes are called");
  CLI::App& schema =
      command(policy, "schema", "JSON Schema of a document", policy_schema_, policy_schema);
  choice(text(schema, "document", policy_schema_.of, "of which document [policy]"),
         {"policy", "guardrails", "config", "agent"});
}

}  // namespace sallyport::app
