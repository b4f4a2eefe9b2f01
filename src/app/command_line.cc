#include "app/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <set>

#include "app/commands.h"
#include "app/demo.h"
#include "app/output.h"
#include "app/verbs.h"
#include "app/version.h"
#include "app/wiring.h"
#include "base/nearest.h"
#include "base/try.h"
#include "hook/dialect.h"

namespace sallyport::app {

namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done or valid, 1 refused or not valid, 64 wrong usage, 70 a fault of ours.\n"
    "Data lives in --data-dir; `sallyport doctor` looks at everything that is odd.";

const std::vector<std::string> kTierWords = {"shadow", "suggest", "act_with_approval", "act_auto"};

// Builds the table, and holds what the parser fills in.
class CommandLine {
 public:
  CommandLine() : app_("A gate around AI agents' tool calls, with a record that can be proved.") {
    app_.name("sallyport");
    app_.footer(kFooter);
    app_.require_subcommand(1);
    app_.fallthrough();
    app_.get_formatter()->column_width(34);
    add_globals();
    add_demo();
    add_mcp();
    add_serve();
    add_hook();
    add_guard();
    add_policy();
    add_ledger();
    add_verify();
    add_approvals();
    add_trust();
    add_grants();
    add_keys();
    simple(app_, "doctor", "look at everything a ledger depends on, and say what to do", doctor);
    add_completion();
  }

  void parse(std::vector<std::string> arguments) {
    std::ranges::reverse(arguments);
    app_.parse(std::move(arguments));
  }

  Invocation invocation() { return {globals_, run_}; }
  CLI::App& app() { return app_; }
  CommandInfo table() const { return describe(app_); }

 private:
  template <class Options>
  using Command = Result<int> (*)(const Context&, const Options&);

  // Options are copied when the command is known: the invocation outlives this object.
  template <class Options>
  CLI::App& command(CLI::App& under, const char* name, const char* description, Options& options,
                    Command<Options> run) {
    CLI::App* const sub = under.add_subcommand(name, description);
    sub->callback([this, &options, run] {
      run_ = [options, run](const Context& context) { return run(context, options); };
    });
    return *sub;
  }

  CLI::App& simple(CLI::App& under, const char* name, const char* description,
                   Result<int> (*run)(const Context&)) {
    CLI::App* const sub = under.add_subcommand(name, description);
    sub->callback([this, run] { run_ = run; });
    return *sub;
  }

  CLI::Option* text(CLI::App& app, const char* name, std::optional<std::string>& out,
                    const char* description, const char* type = "TEXT") {
    return app
        .add_option_function<std::string>(
            name, [&out](const std::string& value) { out = value; }, description)
        ->type_name(type);
  }
  CLI::Option* text(CLI::App& app, const char* name, std::string& out, const char* description,
                    const char* type = "TEXT") {
    return app.add_option(name, out, description)->type_name(type);
  }
  CLI::Option* file(CLI::App& app, const char* name, std::optional<std::filesystem::path>& out,
                    const char* description, const char* type = "FILE") {
    CLI::Option* const option =
        app.add_option_function<std::string>(
               name, [&out](const std::string& value) { out = value; }, description)
            ->type_name(type);
    files_.insert(option);
    return option;
  }
  CLI::Option* files(CLI::App& app, const char* name, std::vector<std::filesystem::path>& out,
                     const char* description) {
    CLI::Option* const option = app.add_option_function<std::vector<std::string>>(
        name,
        [&out](const std::vector<std::string>& values) {
          out.assign(values.begin(), values.end());
        },
        description);
    option->type_name("FILE");
    files_.insert(option);
    return option;
  }
  CLI::Option* choice(CLI::Option* option, std::vector<std::string> choices) {
    option->type_name(fmt::format("{}", fmt::join(choices, "|")));
    CLI::Validator known = CLI::IsMember(choices);
    option->check(known.description(""));  // the type says it
    choices_[option] = std::move(choices);
    return option;
  }

  void add_globals() {
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

  void add_filters(CLI::App& app, FilterOptions& filter) {
    text(app, "--call", filter.call, "only of this call", "ID");
    text(app, "--session", filter.session, "only of this session", "ID");
    text(app, "--agent", filter.agent, "only of this agent", "ID");
    text(app, "--server", filter.server, "only of this tool server", "NAME");
    text(app, "--tool", filter.tool, "only of this tool", "NAME");
    text(app, "--outcome", filter.outcome, "only with this outcome", "NAME");
    text(app, "--kind", filter.kind, "only of this kind", "KIND");
    text(app, "--topic", filter.topic, "only of this topic", "NAME");
    text(app, "--tool-call-id", filter.tool_call, "only with this id of the model", "ID");
    text(app, "--approval", filter.approval, "only calls that asked this", "ID");
    text(app, "--event-type", filter.event_type, "only events of this type", "TYPE");
    text(app, "--terminal", filter.terminal, "only records that end a call, or do not",
         "true|false");
    text(app, "--since", filter.since, "not before this time", "TIME");
    text(app, "--until", filter.until, "before this time", "TIME");
    text(app, "--after", filter.after, "behind this sequence", "SEQUENCE");
  }

  void add_selection(CLI::App& app, SelectionOptions& selection) {
    text(app, "--call", selection.call, "what belongs to this call", "ID");
    text(app, "--session", selection.session, "what belongs to this session", "ID");
    text(app, "--agent", selection.agent, "what belongs to this agent", "ID");
    text(app, "--kind", selection.kind, "entries of this kind", "KIND");
    text(app, "--since", selection.since, "not before this time", "TIME");
    text(app, "--until", selection.until, "before this time", "TIME");
  }

  void add_demo() {
    CLI::App* const sub = app_.add_subcommand(
        "demo", "a scripted agent through the real gates; no network, no set-up");
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

  void add_serve() {
    CLI::App& sub =
        command(app_, "serve", "serve agents over HTTP, as the configuration says", serve_, serve);
    text(sub, "--policy", serve_.policy, "instead of the one in the configuration", "POLICY");
  }

  void add_oauth(CLI::App& sub, OAuthOptions& options) {
    text(sub, "--client-id", options.client_id, "of a client that was registered by hand", "ID");
    text(sub, "--client-secret-env", options.client_secret_env,
         "the variable that holds its secret", "NAME");
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

  void add_mcp() {
    CLI::App& sub = command(app_, "mcp", "put the gate before a tool server, on standard streams",
                            mcp_, wrap_mcp_server);
    text(sub, "--policy", mcp_.policy, "a file, or a shipped one by its name [starter]", "POLICY");
    text(sub, "--name", mcp_.name, "how records call the server [from its command]", "NAME");
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
  }

  void add_hook() {
    CLI::App& hook =
        command(app_, "hook", "decide about one event of a coding agent, on standard input", hook_,
                answer_hook);
    choice(text(hook, "--agent", hook_.agent, "whose event it is"), hook::dialect_names())
        ->required();
    text(hook, "--policy", hook_.policy, "a file, or a shipped one by its name [starter]",
         "POLICY");
    choice(text(hook, "--interactive", hook_.interactive,
                "can somebody be asked where the agent runs? [auto]"),
           {"auto", "yes", "no"});
    CLI::App& init = command(app_, "init", "put the gate into the settings of an agent or a client",
                             init_, app::init);
    choice(text(init, "--agent", init_.agent, "install the hook of this coding agent"),
           hook::dialect_names());
    choice(text(init, "--client", init_.client,
                "lead the MCP servers of this client through the gate"),
           client_names());
    file(init, "--file", init_.file, "its settings [where the program keeps them]");
    text(init, "--policy", init_.policy, "the policy that decides then [starter]", "POLICY");
    init.add_flag("--print", init_.print, "print the settings, write nothing");
    init.add_flag("--undo", init_.undo, "take it out again");
    init.add_flag("--dry-run", init_.dry_run, "say what would be changed");
  }

  void add_guard() {
    const std::vector<std::string> stages = {"input", "output", "tool_use", "tool_output"};
    CLI::App& guard = *app_.add_subcommand("guard", "try guardrails; nothing is recorded");
    guard.require_subcommand(1);
    CLI::App& check =
        command(guard, "check", "what the checks say of a text", guard_check_, guard_check);
    text(check, "--config", guard_check_.config, "the document, or gallery:NAME", "FILE")
        ->required();
    choice(text(check, "--stage", guard_check_.stage, "which checks")->required(), stages);
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

  void add_policy() {
    CLI::App& policy = *app_.add_subcommand("policy", "what policies are made of");
    policy.require_subcommand(1);
    CLI::App& check = command(policy, "check", "is this a policy, and what does it say",
                              policy_check_, policy_check);
    required_file(check, "file", policy_check_.file, "the policy");
    CLI::App& test =
        command(policy, "test", "does it do what its cases say", policy_test_, policy_test);
    text(test, "file", policy_test_.file, "a policy, a guardrail document or gallery:NAME", "FILE")
        ->required();
    text(test, "--cases", policy_test_.cases, "the cases [those of the preset]", "FILE");
    CLI::App& explain = command(policy, "explain", "would this call run, and why; runs nothing",
                                policy_explain_, policy_explain);
    text(explain, "call", policy_explain_.call, "a call as JSON, or the id of a recorded one",
         "FILE|CALL")
        ->required();
    text(explain, "--policy", policy_explain_.policy,
         "a file, or a shipped one by its name [starter]", "POLICY");
    text(explain, "--grant", policy_explain_.grant, "the token that the call presents", "FILE");
    CLI::App& show =
        command(policy, "show", "policies that come with the program", policy_show_, policy_show);
    text(show, "name", policy_show_.name, "print this one", "NAME");
    CLI::App& gallery = command(policy, "gallery", "guardrails that come with the program",
                                policy_gallery_, policy_gallery);
    text(gallery, "name", policy_gallery_.name, "print this document", "NAME");
    text(gallery, "--locale", policy_gallery_.locale, "names in this language [en]", "en|uk");
    CLI::App& schema =
        command(policy, "schema", "JSON Schema of a document", policy_schema_, policy_schema);
    choice(text(schema, "document", policy_schema_.of, "of which document [policy]"),
           {"policy", "guardrails", "config"});
  }

  void add_ledger() {
    CLI::App& ledger =
        *app_.add_subcommand("ledger", "read, prove, export and maintain the record");
    ledger.require_subcommand(1);
    add_reading(ledger);
    add_proving(ledger);
    add_maintaining(ledger);
  }

  void add_reading(CLI::App& ledger) {
    CLI::App& tail = command(ledger, "tail", "the newest entries", tail_, ledger_tail);
    text(tail, "-n,--lines", tail_.count, "how many [20]", "N");
    tail.add_flag("-f,--follow", tail_.follow, "wait for more");
    add_filters(tail, tail_.filter);
    CLI::App& show =
        command(ledger, "show", "entries that match, or one of them whole", show_, ledger_show);
    text(show, "target", show_.target, "an entry's id or sequence, or a call", "ID|CALL|SEQUENCE");
    text(show, "--limit", show_.limit, "at most so many", "N");
    add_filters(show, show_.filter);
    simple(ledger, "stats", "how many entries of what", ledger_stats);
    CLI::App& out =
        command(ledger, "export", "the record in a form that others read", export_, ledger_export);
    choice(text(out, "--format", export_.format, "which form [jsonl]"),
           {"jsonl", "tlog-tiles", "cef"});
    file(out, "--out", export_.out, "where to [standard output]", "PATH");
    out.add_flag("--with-openings", export_.with_openings,
                 "with the content of sealed fields (cef)");
    add_filters(out, export_.filter);
    simple(ledger, "schema", "what an entry can hold", ledger_schema);
  }

  void add_proving(CLI::App& ledger) {
    CLI::App& check = command(ledger, "verify", "recompute everything and name the first fault",
                              ledger_verify_, ledger_verify);
    file(check, "file", ledger_verify_.file, "a JSON Lines export instead of the ledger");
    file(check, "--since", ledger_verify_.since, "a checkpoint kept elsewhere [the witness]");
    text(check, "--key", ledger_verify_.key, "verifier key, or a file that holds it", "VKEY");
    check.add_flag("--gaps", ledger_verify_.gaps, "with --json: also list gaps");
    CLI::App& receipt = command(ledger, "receipt", "proof of one entry, or of a whole call",
                                receipt_, ledger_receipt);
    text(receipt, "target", receipt_.target, "an entry's id or sequence, or a call",
         "ID|CALL|SEQUENCE")
        ->required();
    receipt.add_flag("--all", receipt_.all, "a list for the whole call");
    choice(text(receipt, "--format", receipt_.format, "which form [json]"), {"json", "tlog-proof"});
    receipt.add_flag("--no-openings", receipt_.no_openings, "without the content of sealed fields");
    file(receipt, "--out", receipt_.out, "where to [standard output]");
    CLI::App& proof =
        command(ledger, "proof", "consistency proof between two sizes", proof_, ledger_proof);
    text(proof, "A", proof_.old_size, "the older size", "SIZE")->required();
    text(proof, "B", proof_.new_size, "the newer size", "SIZE")->required();
    proof.add_flag("--checkpoints", proof_.checkpoints,
                   "also write both checkpoints: FILE.A, FILE.B");
    file(proof, "--out", proof_.out, "where to [standard output]");
    CLI::App& checkpoint =
        command(ledger, "checkpoint", "the newest signed checkpoint, or that of a size",
                checkpoint_, ledger_checkpoint);
    text(checkpoint, "size", checkpoint_.size, "which one [the newest]", "SIZE");
  }

  void add_maintaining(CLI::App& ledger) {
    CLI::App& erase =
        command(ledger, "erase", "remove content; the proof stays", erase_, ledger_erase);
    add_selection(erase, erase_.selection);
    text(erase, "--path", erase_.selection.path, "only this field, as /body/result", "POINTER");
    text(erase, "--reason", erase_.reason, "why; becomes part of the record")->required();
    erase.add_flag("--dry-run", erase_.dry_run, "only say what would be removed");
    CLI::App& prune = command(ledger, "prune", "drop the bytes of old entries; their hashes stay",
                              prune_, ledger_prune);
    text(prune, "--before", prune_.before, "entries below this sequence", "SEQUENCE")->required();
    text(prune, "--reason", prune_.reason, "why; becomes part of the record")->required();
    prune.add_flag("--dry-run", prune_.dry_run, "only say what would be dropped");
    CLI::App& hold = *ledger.add_subcommand("hold", "forbid erasing and pruning");
    hold.require_subcommand(1);
    CLI::App& add = command(hold, "add", "set a hold", hold_add_, ledger_hold_add);
    text(add, "--id", hold_add_.id, "its name [a fresh one]", "NAME");
    add_selection(add, hold_add_.selection);
    text(add, "--reason", hold_add_.reason, "why; becomes part of the record")->required();
    CLI::App& lift = command(hold, "lift", "lift a hold", hold_lift_, ledger_hold_lift);
    text(lift, "id", hold_lift_.id, "its name", "NAME")->required();
    text(lift, "--reason", hold_lift_.reason, "why; becomes part of the record")->required();
    simple(hold, "list", "holds in force", ledger_hold_list);
    CLI::App& acknowledge =
        command(ledger, "acknowledge", "let a ledger go on that its witness contradicts",
                acknowledge_, ledger_acknowledge);
    text(acknowledge, "--reason", acknowledge_.reason, "why; becomes part of the record")
        ->required();
  }

  void add_verify() {
    CLI::App& sub =
        command(app_, "verify", "check a receipt offline, with nothing but a key", verify_, verify);
    files(sub, "receipt", verify_.files,
          "a receipt, or - for standard input; OLD NEW PROOF with --consistency")
        ->required();
    text(sub, "--key", verify_.key, "pinned verifier key, or a file that holds it", "VKEY");
    text(sub, "--origin", verify_.origin, "the log's name [that of the key]", "NAME");
    files(sub, "--rotation", verify_.rotations,
          "receipt of a key rotation, oldest first; may be repeated")
        ->take_all()
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    sub.add_flag("--consistency", verify_.consistency,
                 "check that one checkpoint continues another");
  }

  void add_approvals() {
    CLI::App& approvals = *app_.add_subcommand("approvals", "what waits for a person");
    approvals.require_subcommand(1);
    CLI::App& list = command(approvals, "list", "what waits, the riskiest and oldest first",
                             approvals_list_, approvals_list);
    choice(text(list, "--kind", approvals_list_.kind, "only of this kind"),
           {"approval", "dual_control", "question", "escalation"});
    choice(text(list, "--state", approvals_list_.state, "in this state [pending]"),
           {"pending", "approved", "denied", "expired", "cancelled", "invalidated", "used", "all"});
    CLI::App& show = command(approvals, "show", "one question, and exactly what would run",
                             approvals_show_, approvals_show);
    text(show, "id", approvals_show_.id, "which one", "ID")->required();
    show.add_flag("--full", approvals_show_.full, "long values whole");
    add_answer(approvals, "approve", "say yes: the call runs, once", approve_, approvals_approve);
    add_answer(approvals, "deny", "say no: the call does not run", deny_, approvals_deny);
    add_answer(approvals, "cancel", "take a question back: the call does not run", cancel_,
               approvals_cancel);
    CLI::App& batch = command(approvals, "answer",
                              "answer a question in words, or many calls, each with its verdict",
                              approvals_batch_, approvals_answer);
    CLI::Option* const which = text(batch, "id", approvals_batch_.id, "which question", "ID");
    text(batch, "--text", approvals_batch_.words, "what you answer to it")->needs(which);
    file(batch, "--batch", approvals_batch_.batch,
         "instead: [{request_id, approved, binding, reason?}, ...]")
        ->excludes(which);
    add_login(batch, approvals_batch_.login);
    CLI::App& escalate = command(approvals, "escalate", "let somebody else answer too",
                                 approvals_escalate_, approvals_escalate);
    ApprovalsAnswerOptions& passed_on = approvals_escalate_.answer;
    text(escalate, "id", passed_on.id, "which one", "ID")->required();
    text(escalate, "--to", approvals_escalate_.to, "a person, or role:ROLE", "WHO")->required();
    text(escalate, "--reason", passed_on.reason, "why; becomes part of the record");
    add_login(escalate, passed_on.login);
    CLI::App& watch = command(approvals, "watch", "see what comes, and answer it", approvals_watch_,
                              approvals_watch);
    choice(text(watch, "--kind", approvals_watch_.kind, "only of this kind"),
           {"approval", "dual_control"});
    add_login(watch, approvals_watch_.login);
    CLI::App& init = command(approvals, "init", "make the key with which you answer",
                             approvals_init_, approvals_init);
    text(init, "--name", approvals_init_.name, "who you are [user:LOGIN]", "NAME");
    file(init, "--key-file", approvals_init_.key_file, "where to [<data-dir>/approvers]");
    file(init, "--passphrase-file", approvals_init_.passphrase_file,
         "holds the passphrase [asked at the terminal]");
    CLI::App& accept = command(approvals, "accept", "take an escalation off the queue as right",
                               accept_, approvals_accept);
    CLI::App& dismiss =
        command(approvals, "dismiss", "take an escalation off the queue as no concern", dismiss_,
                approvals_dismiss);
    text(accept, "id", accept_.id, "which one", "ID")->required();
    text(accept, "--note", accept_.note, "becomes part of the record", "TEXT");
    text(dismiss, "id", dismiss_.id, "which one", "ID")->required();
    text(dismiss, "--note", dismiss_.note, "becomes part of the record", "TEXT");
  }

  void add_answer(CLI::App& approvals, const char* name, const char* about,
                  ApprovalsAnswerOptions& options, Command<ApprovalsAnswerOptions> run) {
    CLI::App& answer = command(approvals, name, about, options, run);
    text(answer, "id", options.id, "which one", "ID")->required();
    text(answer, "--reason", options.reason, "why; becomes part of the record");
    text(answer, "--binding", options.binding, "what you saw; another call is not answered",
         "DIGEST");
    add_login(answer, options.login);
  }

  void add_login(CLI::App& answer, LoginOptions& login) {
    file(answer, "--key-file", login.key_file, "your approver key [the one in <data-dir>]");
    CLI::Option* const words = file(answer, "--passphrase-file", login.passphrase_file,
                                    "holds its passphrase [asked at the terminal]");
    text(answer, "--passphrase-fd", login.passphrase_fd, "descriptor that gives its passphrase",
         "N")
        ->excludes(words);
    file(answer, "--token-file", login.token_file, "your token, instead of a key");
    text(answer, "--name", login.name, "whose token it is", "NAME");
    file(answer, "--reviewers", login.reviewers,
         "who is registered [<data-dir>/reviewers.yaml]; may be a policy");
  }

  void add_trust() {
    CLI::App& trust = *app_.add_subcommand("trust", "what agents did, and what they may do");
    trust.require_subcommand(1);
    CLI::App& show = command(trust, "show", "how an agent stands", trust_show_, trust_show);
    text(show, "agent", trust_show_.agent, "which agent [all]", "AGENT");
    show.add_flag("--records", trust_show_.records, "its records instead of its score");
    show.add_flag("--by-trace", trust_show_.by_trace, "its records, trace by trace");
    text(show, "--action", trust_show_.action, "only of this action", "ACTION");
    text(show, "--since", trust_show_.since, "records not before this time", "TIME");
    text(show, "--until", trust_show_.until, "records before this time", "TIME");
    choice(text(show, "--tier", trust_show_.tier, "records under this tier"), kTierWords);
    choice(text(show, "--outcome", trust_show_.outcome, "records with this outcome"),
           {"success", "failure", "denied", "timeout"});
    text(show, "--limit", trust_show_.limit, "the newest so many records [1000]", "N");
    file(show, "--file", trust_show_.file, "a chain document instead of the ledger");
    choice(text(show, "--declared", trust_show_.declared,
                "tier of an agent that nobody promoted or demoted [act_with_approval]"),
           kTierWords);
    add_tier_change(command(trust, "promote", "give an agent a higher tier; asks for a passphrase",
                            trust_promote_, trust_promote),
                    trust_promote_);
    add_tier_change(command(trust, "demote", "give an agent a lower tier; asks for a passphrase",
                            trust_demote_, trust_demote),
                    trust_demote_);
    CLI::App& out = command(trust, "export", "the chain as others read it (OpenTrustGraph v0)",
                            trust_export_, trust_export);
    text(out, "--limit", trust_export_.limit, "only the first so many records", "N");
    file(out, "--out", trust_export_.out, "where to [standard output]");
    file(out, "--reviewers", trust_export_.reviewers,
         "who is registered [<data-dir>/reviewers.yaml]");
    CLI::App& check =
        command(trust, "verify", "check hashes, links and signatures", trust_verify_, trust_verify);
    file(check, "file", trust_verify_.file, "a chain document instead of the ledger");
    file(check, "--reviewers", trust_verify_.reviewers,
         "who is registered [<data-dir>/reviewers.yaml]");
    text(check, "--origin", trust_verify_.origin, "the log a document came from", "NAME");
  }

  void add_tier_change(CLI::App& sub, TrustChangeOptions& options) {
    text(sub, "agent", options.agent, "which agent", "AGENT")->required();
    choice(text(sub, "--to", options.to, "the new tier")->required(), kTierWords);
    choice(text(sub, "--declared", options.declared,
                "its tier where nobody changed it before [act_with_approval]"),
           kTierWords);
    file(sub, "--key-file", options.key_file, "your approver key [the one in <data-dir>]");
    file(sub, "--passphrase-file", options.passphrase_file,
         "holds the passphrase [asked at the terminal]");
    file(sub, "--reviewers", options.reviewers, "who is registered [<data-dir>/reviewers.yaml]");
  }

  void add_grant(CLI::App& app, GrantOptions& options) {
    text(app, "--subject", options.subject, "the principal who may use it", "PRINCIPAL")
        ->required();
    required_file(app, "--grant", options.grant, "what it allows, as JSON");
    text(app, "--subject-key", options.subject_key, "with which the subject may hand it on", "KEY");
  }

  CLI::Option* required_file(CLI::App& app, const char* name, std::filesystem::path& out,
                             const char* description) {
    CLI::Option* const option =
        app.add_option_function<std::string>(
               name, [&out](const std::string& value) { out = value; }, description)
            ->type_name("FILE")
            ->required();
    files_.insert(option);
    return option;
  }

  void add_grants() {
    CLI::App& grants = *app_.add_subcommand("grants", "who may call what, signed and expiring");
    grants.require_subcommand(1);
    CLI::App& issue = command(grants, "issue", "make a token", grants_issue_, grants_issue);
    add_grant(issue, grants_issue_);
    text(issue, "--ttl", grants_issue_.ttl, "how long it is valid, at most 30d [1h]", "DURATION");
    CLI::App& less = command(grants, "attenuate", "hand on less than a token allows",
                             grants_attenuate_, grants_attenuate);
    text(less, "token", grants_attenuate_.token, "a file, -, or the token itself", "TOKEN")
        ->required();
    add_grant(less, grants_attenuate_.grant);
    text(less, "--ttl", grants_attenuate_.grant.ttl, "how long it is valid [as its parent]",
         "DURATION");
    required_file(less, "--key-file", grants_attenuate_.key_file,
                  "private key of the token's subject");
    CLI::App& inspect = command(grants, "inspect", "every check of a token, and what would match",
                                grants_inspect_, grants_inspect);
    text(inspect, "token", grants_inspect_.token, "a file, -, or the token itself", "TOKEN")
        ->required();
    file(inspect, "--call", grants_inspect_.call, "a call to compare it with, as JSON");
    text(inspect, "--principal", grants_inspect_.principal, "who presents it [as the call says]",
         "PRINCIPAL");
    text(inspect, "--at", grants_inspect_.at, "as if it were this time [now]", "TIME");
    inspect.add_option("--trust", grants_inspect_.trust, "an issuer to trust; may be repeated")
        ->type_name("KEY")
        ->take_all()
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    CLI::App& revoke =
        command(grants, "revoke", "let a token count no longer", grants_revoke_, grants_revoke);
    text(revoke, "id", grants_revoke_.id, "its id", "ID")->required();
    text(revoke, "--reason", grants_revoke_.reason, "why; becomes part of the record")->required();
    simple(grants, "list", "tokens issued or seen, with their uses", grants_list);
  }

  void add_keys() {
    CLI::App& keys = *app_.add_subcommand("keys", "verifier keys, past and present");
    keys.require_subcommand(1);
    simple(keys, "show", "print verifier keys and the sizes they signed", keys_show);
    CLI::App& rotate =
        command(keys, "rotate", "sign with a new key from now on", rotate_, keys_rotate);
    rotate.add_flag("--compromised", rotate_.compromised,
                    "the old key is in other hands: do not vouch for the new one");
  }

  void add_completion() {
    CLI::App* const sub =
        app_.add_subcommand("completion", "print a completion script for a shell");
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

  CommandInfo describe(const CLI::App& app) const {
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

  CLI::App app_;
  std::set<const CLI::Option*> files_;
  std::map<const CLI::Option*, std::vector<std::string>> choices_;
  std::function<Result<int>(const Context&)> run_;

  Globals globals_;
  DemoOptions demo_;
  TailOptions tail_;
  ShowOptions show_;
  ExportOptions export_;
  LedgerVerifyOptions ledger_verify_;
  ReceiptOptions receipt_;
  ProofOptions proof_;
  CheckpointOptions checkpoint_;
  EraseOptions erase_;
  PruneOptions prune_;
  HoldAddOptions hold_add_;
  HoldLiftOptions hold_lift_;
  AcknowledgeOptions acknowledge_;
  VerifyOptions verify_;
  RotateOptions rotate_;
  GrantOptions grants_issue_;
  AttenuateOptions grants_attenuate_;
  InspectOptions grants_inspect_;
  RevokeOptions grants_revoke_;
  GuardCheckOptions guard_check_;
  GuardStreamOptions guard_stream_;
  PolicyCheckOptions policy_check_;
  PolicyTestOptions policy_test_;
  PolicyExplainOptions policy_explain_;
  PolicyShowOptions policy_show_;
  PolicyGalleryOptions policy_gallery_;
  PolicySchemaOptions policy_schema_;
  McpOptions mcp_;
  McpLoginOptions mcp_login_;
  McpLogoutOptions mcp_logout_;
  ServeOptions serve_;
  HookOptions hook_;
  InitOptions init_;
  PinsOptions pins_list_;
  PinsOptions pins_diff_;
  PinsOptions pins_accept_;
  ApprovalsInitOptions approvals_init_;
  ApprovalsBatchOptions approvals_batch_;
  ApprovalsEscalateOptions approvals_escalate_;
  ApprovalsWatchOptions approvals_watch_;
  ApprovalsListOptions approvals_list_;
  ApprovalsShowOptions approvals_show_;
  ApprovalsAnswerOptions approve_;
  ApprovalsAnswerOptions deny_;
  ApprovalsAnswerOptions cancel_;
  TrustShowOptions trust_show_;
  TrustChangeOptions trust_promote_;
  TrustChangeOptions trust_demote_;
  TrustExportOptions trust_export_;
  TrustVerifyOptions trust_verify_;
  SettleOptions accept_;
  SettleOptions dismiss_;
  std::string shell_;
};

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
  return line.invocation();
}

CommandInfo command_table() {
  return CommandLine().table();
}

}  // namespace sallyport::app
