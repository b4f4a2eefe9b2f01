// Every command as a plain function of plain options. Returns the exit code: 0, or 1 for "no".
// Large families have headers of their own, which are part of this one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/agent_commands.h"
#include "app/cli/grants_commands.h"
#include "app/cli/login_options.h"
#include "app/cli/policy_commands.h"
#include "app/cli/trust_commands.h"
#include "app/context.h"
#include "app/servers/oauth_options.h"

namespace sallyport::app {

// As typed; what they mean is decided in one place (selection.h).
struct FilterOptions {
  std::optional<std::string> call;
  std::optional<std::string> session;
  std::optional<std::string> run;
  std::optional<std::string> agent;
  std::optional<std::string> server;
  std::optional<std::string> tool;
  std::optional<std::string> outcome;
  std::optional<std::string> kind;
  std::optional<std::string> topic;
  std::optional<std::string> tool_call;
  std::optional<std::string> approval;
  std::optional<std::string> event_type;
  std::optional<std::string> terminal;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::optional<std::string> after;

  bool operator==(const FilterOptions&) const = default;
};

struct TailOptions {
  std::optional<std::string> count;
  bool follow = false;
  FilterOptions filter;
};
Result<int> ledger_tail(const Context& context, const TailOptions& options);

struct CallsOptions {
  std::optional<std::string> count;
  FilterOptions filter;
};
Result<int> ledger_calls(const Context& context, const CallsOptions& options);

struct ShowOptions {
  std::optional<std::string> target;
  std::optional<std::string> limit;
  FilterOptions filter;
};
Result<int> ledger_show(const Context& context, const ShowOptions& options);

Result<int> ledger_stats(const Context& context);

struct ExportOptions {
  std::string format = "jsonl";
  std::optional<std::filesystem::path> out;
  bool with_openings = false;
  FilterOptions filter;
};
Result<int> ledger_export(const Context& context, const ExportOptions& options);

struct LedgerVerifyOptions {
  std::optional<std::filesystem::path> file;
  std::optional<std::filesystem::path> since;
  std::optional<std::string> key;
  std::optional<std::filesystem::path> policy;
  std::vector<std::filesystem::path> reviewers;
  bool gaps = false;
};
Result<int> ledger_verify(const Context& context, const LedgerVerifyOptions& options);

struct ApprovalsListOptions {
  std::optional<std::string> kind;
  std::optional<std::string> state;
  bool all = false;  // those that look alike too, each by itself
};
Result<int> approvals_list(const Context& context, const ApprovalsListOptions& options);
struct ApprovalsShowOptions {
  std::string id;
  bool full = false;
  bool reveal = false;  // with what redaction took out, for a reviewer
  LoginOptions login{};
};
Result<int> approvals_show(const Context& context, const ApprovalsShowOptions& options);
struct ApprovalsAnswerOptions {
  std::string id;
  std::optional<std::string> reason;
  std::optional<std::string> binding;
  LoginOptions login;
};
Result<int> approvals_approve(const Context& context, const ApprovalsAnswerOptions& options);
Result<int> approvals_deny(const Context& context, const ApprovalsAnswerOptions& options);
Result<int> approvals_cancel(const Context& context, const ApprovalsAnswerOptions& options);
// Words for one question, or a list of verdicts.
struct ApprovalsBatchOptions {
  std::optional<std::string> id;
  std::optional<std::string> words;
  std::optional<std::filesystem::path> batch;
  LoginOptions login;
};
// 0: all were taken; 1: not all.
Result<int> approvals_answer(const Context& context, const ApprovalsBatchOptions& options);
struct ApprovalsEscalateOptions {
  ApprovalsAnswerOptions answer;
  std::string to;
};
Result<int> approvals_escalate(const Context& context, const ApprovalsEscalateOptions& options);
struct ApprovalsWatchOptions {
  std::optional<std::string> kind;
  LoginOptions login;
};
// Runs until the user stops it.
Result<int> approvals_watch(const Context& context, const ApprovalsWatchOptions& options);
struct SettleOptions {
  std::string id;
  std::optional<std::string> note;
  LoginOptions login;
};
Result<int> approvals_accept(const Context& context, const SettleOptions& options);
Result<int> approvals_dismiss(const Context& context, const SettleOptions& options);

struct ApprovalsInitOptions {
  std::optional<std::string> name;
  std::optional<std::filesystem::path> key_file;
  std::optional<std::filesystem::path> passphrase_file;
  bool register_it = false;  // in the list of the data folder
};
Result<int> approvals_init(const Context& context, const ApprovalsInitOptions& options);

struct ReceiptOptions {
  std::string target;
  bool all = false;
  std::string format = "json";
  bool no_openings = false;
  std::optional<std::filesystem::path> out;
};
Result<int> ledger_receipt(const Context& context, const ReceiptOptions& options);

struct ProofOptions {
  std::string old_size;
  std::string new_size;
  bool checkpoints = false;
  std::optional<std::filesystem::path> out;
};
Result<int> ledger_proof(const Context& context, const ProofOptions& options);

struct CheckpointOptions {
  std::optional<std::string> size;
  bool cosigned = false;
};
Result<int> ledger_checkpoint(const Context& context, const CheckpointOptions& options);

struct WitnessOptions {
  bool once = false;
};
// 0: the newest checkpoint has its quorum. Without `once`: until it is stopped.
Result<int> ledger_witness(const Context& context, const WitnessOptions& options);

// What a person means by erase and hold.
struct SelectionOptions {
  std::optional<std::string> call;
  std::optional<std::string> session;
  std::optional<std::string> agent;
  std::optional<std::string> kind;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::optional<std::string> path;
};

struct EraseOptions {
  SelectionOptions selection;
  std::string reason;
  bool dry_run = false;
  LoginOptions login;
};
Result<int> ledger_erase(const Context& context, const EraseOptions& options);

struct PruneOptions {
  std::string before;
  std::string reason;
  bool dry_run = false;
  LoginOptions login;
};
Result<int> ledger_prune(const Context& context, const PruneOptions& options);

struct HoldAddOptions {
  std::optional<std::string> id;
  SelectionOptions selection;
  std::string reason;
  LoginOptions login;
};
Result<int> ledger_hold_add(const Context& context, const HoldAddOptions& options);

struct HoldLiftOptions {
  std::string id;
  std::string reason;
  LoginOptions login;
};
Result<int> ledger_hold_lift(const Context& context, const HoldLiftOptions& options);
Result<int> ledger_hold_list(const Context& context);

struct AcknowledgeOptions {
  std::string reason;
  LoginOptions login;
};
Result<int> ledger_acknowledge(const Context& context, const AcknowledgeOptions& options);

struct MoveOptions {
  std::string to;  // the address of a database
  std::optional<std::string> log;
  std::vector<std::string> plain_hosts;
  LoginOptions login{};
};
Result<int> ledger_move(const Context& context, const MoveOptions& options);

struct TablesOptions {
  std::string gateway;  // roles of the database
  std::optional<std::string> keeper;
};
Result<int> ledger_tables(const Context& context, const TablesOptions& options);

Result<int> ledger_schema(const Context& context);

struct VerifyOptions {
  std::vector<std::filesystem::path> files;
  std::optional<std::string> key;
  std::optional<std::string> origin;
  std::vector<std::filesystem::path> rotations;
  std::optional<std::filesystem::path> policy;  // whose quorum a checkpoint needs
  bool consistency = false;
  bool page = false;  // print the page that checks receipts in a browser, and check nothing
};
// Opens nothing but the files it is given (LE-32).
Result<int> verify(const Context& context, const VerifyOptions& options);

Result<int> keys_show(const Context& context);

struct RotateOptions {
  bool compromised = false;
  LoginOptions login;
};
Result<int> keys_rotate(const Context& context, const RotateOptions& options);

Result<int> doctor(const Context& context);

struct McpOptions {
  std::optional<std::string> policy;      // a file, or a shipped one by its name; none: `starter`
  std::optional<std::string> name;        // of the server, in records
  std::optional<std::string> url;         // where it is reached, if not started here
  std::optional<std::string> bearer_env;  // the variable that holds our token for it
  bool allow_http = false;                // without encryption, to other machines too
  OAuthOptions oauth;
  bool login = false;  // a person may be asked, by a browser
  std::string era = "auto";
  std::optional<std::string> grant;  // token of calls that bring none: a file, or the JSON itself
  std::vector<std::string> command;  // that starts it
};
// Runs until the client closes its end.
Result<int> wrap_mcp_server(const Context& context, const McpOptions& options);

struct McpLoginOptions {
  std::string url;
  bool allow_http = false;
  OAuthOptions oauth;
  std::string wait = "5m";  // for the person
  bool no_browser = false;  // only say the address
};
Result<int> mcp_login(const Context& context, const McpLoginOptions& options);

struct McpLogoutOptions {
  std::string url;
  bool allow_http = false;
};
Result<int> mcp_logout(const Context& context, const McpLogoutOptions& options);

struct ServeOptions {
  std::optional<std::string> policy;  // instead of the one in the configuration
  std::string log = "text";           // or `json`
};
// Runs until it is told to end by a signal.
Result<int> serve(const Context& context, const ServeOptions& options);

struct HookOptions {
  std::string agent;
  std::optional<std::string> policy;  // as of `mcp`
  std::string interactive = "auto";
};
// Always answers and returns 0, in the words of the agent.
Result<int> answer_hook(const Context& context, const HookOptions& options);

struct InitOptions {
  std::optional<std::string> agent;
  std::optional<std::string> client;
  std::optional<std::filesystem::path> file;
  std::optional<std::string> policy;
  bool print = false;
  bool undo = false;
  bool dry_run = false;
};
Result<int> init(const Context& context, const InitOptions& options);

struct SetupOptions {
  bool system = false;
  bool undo = false;
  bool purge = false;
  bool dry_run = false;
  std::string user = "sallyport";
  std::optional<std::filesystem::path> root;
};
Result<int> setup(const Context& context, const SetupOptions& options);

struct PinsOptions {
  std::optional<std::string> server;
  std::optional<std::string> tool;
  LoginOptions login;
};
Result<int> pins_list(const Context& context, const PinsOptions& options);
Result<int> pins_diff(const Context& context, const PinsOptions& options);
Result<int> pins_accept(const Context& context, const PinsOptions& options);

}  // namespace sallyport::app
