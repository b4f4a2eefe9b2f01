// The grammar of the command line: every command with its options, and what the parser fills in.
// command_grammar.cc has what all commands share; command_grammar_gate.cc, _ledger.cc, _people.cc,
// _agent.cc and _agent_sessions.cc have the commands, by subject. No other file knows the parsing
// library.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <set>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/console_commands.h"
#include "app/cli/demo.h"

namespace sallyport::app {

class CommandLine {
 public:
  CommandLine();

  void parse(std::vector<std::string> arguments);

  Invocation invocation() { return {globals_, {}, run_}; }
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
                   Result<int> (*run)(const Context&));
  CLI::Option* text(CLI::App& app, const char* name, std::optional<std::string>& out,
                    const char* description, const char* type = "TEXT");
  CLI::Option* text(CLI::App& app, const char* name, std::string& out, const char* description,
                    const char* type = "TEXT");
  CLI::Option* file(CLI::App& app, const char* name, std::optional<std::filesystem::path>& out,
                    const char* description, const char* type = "FILE");
  CLI::Option* files(CLI::App& app, const char* name, std::vector<std::filesystem::path>& out,
                     const char* description);
  // Whom to believe who signed control records, besides those who are registered now.
  void lists(CLI::App& app, std::vector<std::filesystem::path>& out);
  CLI::Option* choice(CLI::Option* option, std::vector<std::string> choices);
  void add_globals();
  void add_filters(CLI::App& app, FilterOptions& filter);
  void add_selection(CLI::App& app, SelectionOptions& selection);
  void add_demo();
  void add_serve();
  void add_console();
  void add_passkeys();
  void add_own_key(CLI::App& sub, LoginOptions& login);
  void add_oauth(CLI::App& sub, OAuthOptions& options);
  void add_mcp();
  void add_hook();
  void add_setup();
  void add_guard();
  void add_policy();
  void add_backtest(CLI::App& policy);
  void add_ledger();
  void add_reading(CLI::App& ledger);
  void add_proving(CLI::App& ledger);
  void add_maintaining(CLI::App& ledger);
  void add_verify();
  void add_approvals();
  void add_answer(CLI::App& approvals, const char* name, const char* about,
                  ApprovalsAnswerOptions& options, Command<ApprovalsAnswerOptions> run);
  void add_login(CLI::App& answer, LoginOptions& login);
  // Of a command that changes evidence or authority (`authorize_change`).
  void add_person(CLI::App& change, LoginOptions& login);
  void add_trust();
  void add_tier_change(CLI::App& sub, TrustChangeOptions& options);
  void add_grant(CLI::App& app, GrantOptions& options);
  CLI::Option* required_file(CLI::App& app, const char* name, std::filesystem::path& out,
                             const char* description);
  void add_grants();
  void add_keys();
  void add_agent();
  void add_agent_options(CLI::App& sub, AgentOptions& options);
  void add_agent_runs(CLI::App& agent);
  void add_agent_sessions(CLI::App& agent);
  void add_completion();
  CommandInfo describe(const CLI::App& app) const;

  CLI::App app_;
  std::set<const CLI::Option*> files_;
  std::map<const CLI::Option*, std::vector<std::string>> choices_;
  std::function<Result<int>(const Context&)> run_;

  Globals globals_;
  DemoOptions demo_;
  TailOptions tail_;
  CallsOptions calls_;
  ShowOptions show_;
  ExportOptions export_;
  LedgerVerifyOptions ledger_verify_;
  ReceiptOptions receipt_;
  ProofOptions proof_;
  CheckpointOptions checkpoint_;
  WitnessOptions witness_;
  EraseOptions erase_;
  PruneOptions prune_;
  HoldAddOptions hold_add_;
  HoldLiftOptions hold_lift_;
  AcknowledgeOptions acknowledge_;
  MoveOptions move_;
  TablesOptions tables_;
  VerifyOptions verify_;
  RotateOptions rotate_;
  GrantOptions grants_issue_;
  AttenuateOptions grants_attenuate_;
  InspectOptions grants_inspect_;
  RevokeOptions grants_revoke_;
  GuardCheckOptions guard_check_;
  GuardStreamOptions guard_stream_;
  PolicyCheckOptions policy_check_;
  PolicyLintOptions policy_lint_;
  PolicyProfilesOptions policy_profiles_;
  PolicyTestOptions policy_test_;
  PolicyExplainOptions policy_explain_;
  PolicyBacktestOptions policy_backtest_;
  PolicyShowOptions policy_show_;
  PolicyGalleryOptions policy_gallery_;
  PolicySchemaOptions policy_schema_;
  McpOptions mcp_;
  McpLoginOptions mcp_login_;
  McpLogoutOptions mcp_logout_;
  ServeOptions serve_;
  HookOptions hook_;
  InitOptions init_;
  SetupOptions setup_;
  PinsOptions pins_list_;
  PinsOptions pins_diff_;
  PinsOptions pins_accept_;
  ApprovalsInitOptions approvals_init_;
  ApprovalsBatchOptions approvals_batch_;
  ApprovalsEscalateOptions approvals_escalate_;
  ApprovalsWatchOptions approvals_watch_;
  ConsoleOptions console_;
  PasskeysOptions passkeys_add_;
  PasskeysOptions passkeys_remove_;
  ApprovalsListOptions approvals_list_;
  ApprovalsShowOptions approvals_show_;
  ApprovalsAnswerOptions approve_;
  ApprovalsAnswerOptions deny_;
  ApprovalsAnswerOptions cancel_;
  TrustShowOptions trust_show_;
  TrustChangeOptions trust_promote_;
  TrustChangeOptions trust_demote_;
  TrustSignOptions trust_sign_;
  TrustExportOptions trust_export_;
  TrustVerifyOptions trust_verify_;
  SettleOptions accept_;
  SettleOptions dismiss_;
  AgentRunOptions agent_run_;
  AgentResumeOptions agent_resume_;
  AgentChatOptions agent_chat_;
  AgentListOptions agent_list_;
  AgentShowOptions agent_show_;
  AgentAskOptions agent_cancel_;
  AgentAskOptions agent_stop_;
  std::string shell_;
};

}  // namespace sallyport::app
