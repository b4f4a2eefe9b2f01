// Every command as a plain function of plain options. Returns the exit code: 0, or 1 for "no".
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/context.h"

namespace sallyport::app {

// As typed; what they mean is decided in one place (selection.h).
struct FilterOptions {
  std::optional<std::string> call;
  std::optional<std::string> session;
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
  bool gaps = false;
};
Result<int> ledger_verify(const Context& context, const LedgerVerifyOptions& options);

Result<int> approvals_list(const Context& context);
struct SettleOptions {
  std::string id;
  std::optional<std::string> note;
};
Result<int> approvals_accept(const Context& context, const SettleOptions& options);
Result<int> approvals_dismiss(const Context& context, const SettleOptions& options);

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
};
Result<int> ledger_checkpoint(const Context& context, const CheckpointOptions& options);

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
};
Result<int> ledger_erase(const Context& context, const EraseOptions& options);

struct PruneOptions {
  std::string before;
  std::string reason;
  bool dry_run = false;
};
Result<int> ledger_prune(const Context& context, const PruneOptions& options);

struct HoldAddOptions {
  std::optional<std::string> id;
  SelectionOptions selection;
  std::string reason;
};
Result<int> ledger_hold_add(const Context& context, const HoldAddOptions& options);

struct HoldLiftOptions {
  std::string id;
  std::string reason;
};
Result<int> ledger_hold_lift(const Context& context, const HoldLiftOptions& options);
Result<int> ledger_hold_list(const Context& context);

struct AcknowledgeOptions {
  std::string reason;
};
Result<int> ledger_acknowledge(const Context& context, const AcknowledgeOptions& options);

Result<int> ledger_schema(const Context& context);

struct VerifyOptions {
  std::vector<std::filesystem::path> files;
  std::optional<std::string> key;
  std::optional<std::string> origin;
  std::vector<std::filesystem::path> rotations;
  bool consistency = false;
};
// Opens nothing but the files it is given (LE-32).
Result<int> verify(const Context& context, const VerifyOptions& options);

Result<int> keys_show(const Context& context);

struct RotateOptions {
  bool compromised = false;
};
Result<int> keys_rotate(const Context& context, const RotateOptions& options);

Result<int> doctor(const Context& context);

}  // namespace sallyport::app
