#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "cli/command.h"
#include "ledger/proof/receipt.h"
#include "ledger/proof/tree.h"
#include "ledger/read/look_at.h"
#include "records/selection.h"
#include "records/short_ids.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct ReceiptOptions {
  std::string target;
  bool all = false;
  std::string format = "json";
  bool no_openings = false;
  std::optional<std::filesystem::path> out;
};

Result<bool> is_terminal_audit(const ledger::StoredEntry& stored, const ledger::EntryView& entry) {
  if (entry.kind != "tool_audit") return false;
  SALLYPORT_TRY(const json::value value, parse_own_json(*stored.bytes));
  const json::object* const body = object_in(value.get_object(), "body");
  return body != nullptr && bool_in(*body, "terminal") == true;
}

struct CallEntries {
  std::vector<std::uint64_t> all;
  std::optional<std::uint64_t> terminal;
};

Result<CallEntries> entries_of_call(ledger::ReadView& view, const std::string& call_id) {
  CallEntries entries;
  SALLYPORT_CHECK_OK(ledger::find_entries(
      view, {.facets = {{ledger::Facet::Call, call_id}}},
      [&](const ledger::StoredEntry& stored, const ledger::EntryView& entry) -> Result<bool> {
        entries.all.push_back(stored.sequence);
        SALLYPORT_TRY(const bool terminal, is_terminal_audit(stored, entry));
        if (terminal) entries.terminal = stored.sequence;
        return true;
      }));
  return entries;
}

// The sequences of the selected entries, in order.
Result<std::vector<std::uint64_t>> chosen(ledger::ReadView& view, const Target& target, bool all) {
  SALLYPORT_TRY(const std::optional<ledger::StoredEntry> one, find_target(view, target));
  if (!one && target.sequence) {
    SALLYPORT_TRY(const std::uint64_t size, view.size());
    return fail(ErrorCode::NotFound, fmt::format("there is no entry {}; the ledger has {} entries",
                                                 *target.sequence, size));
  }
  if (one && !all) return std::vector{one->sequence};
  std::string call_id = target.text;
  if (one && one->bytes) {
    SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*one->bytes));
    call_id = entry.call_id;
    if (call_id.empty()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("entry {} belongs to no call; leave --all out", one->sequence));
    }
  }
  SALLYPORT_TRY(const CallEntries entries, entries_of_call(view, call_id));
  if (entries.all.empty()) {
    return std::unexpected(nothing_found(target));
  }
  if (all) return entries.all;
  if (!entries.terminal) {
    return fail(ErrorCode::NotFound,
                fmt::format("call `{}` has no outcome yet; --all gives receipts of what there is",
                            target.text));
  }
  return std::vector{*entries.terminal};
}

bool is_rotation(const ledger::Receipt& receipt) {
  const Result<json::value> entry = parse_own_json(receipt.entry);
  const json::object* const body = entry ? object_in(entry->get_object(), "body") : nullptr;
  return body != nullptr && text_in(*body, "control") == "key_rotated";
}

// Both keys signed only the checkpoint of its own commit, so only that one leads a reader who
// pinned the old key to the new one (LE-27).
Result<void> prove_to_both(ledger::ReadView& view, ledger::Receipt& receipt) {
  std::uint64_t size = 0;
  SALLYPORT_CHECK_OK(view.scan(receipt.leaf_index, receipt.tree_size,
                               [&](const ledger::StoredEntry& stored) -> Result<bool> {
                                 if (stored.checkpoint.empty()) return true;
                                 receipt.checkpoint = stored.checkpoint;
                                 size = stored.sequence + 1;
                                 return false;
                               }));
  receipt.tree_size = size;
  SALLYPORT_TRY(receipt.proof,
                ledger::inclusion_proof(receipt.leaf_index, size, ledger::subtree_hash(view)));
  return {};
}

// All inside one snapshot, and so under one checkpoint (LE-31).
Result<std::string> render(ledger::ReadView& view, const ReceiptOptions& options,
                           const std::vector<std::uint64_t>& sequences) {
  std::string out = options.all ? "[" : "";
  const std::uint64_t last = sequences.empty() ? 0 : std::ranges::max(sequences);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    SALLYPORT_TRY(ledger::Receipt receipt,
                  ledger::make_receipt(view, sequences[i], !options.no_openings, last));
    if (is_rotation(receipt)) SALLYPORT_CHECK_OK(prove_to_both(view, receipt));
    if (options.format == "tlog-proof") return receipt.tlog_proof();
    if (i > 0) out += ",\n";
    out += receipt.json();
  }
  return out + (options.all ? "]\n" : "\n");
}

Result<int> ledger_receipt(const Context& context, const ReceiptOptions& options) {
  if (options.all && options.format == "tlog-proof") {
    return fail(ErrorCode::InvalidInput, "a tlog-proof is of one entry; leave --all out");
  }
  SALLYPORT_TRY(Target target, target_from(options.target));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  const auto receipts = [&](ledger::ReadView& view) -> Result<std::string> {
    if (!target.sequence) {
      SALLYPORT_TRY(const std::string whole, whole_call_id(view, target.text));
      SALLYPORT_TRY(target, target_from(whole));
    }
    SALLYPORT_TRY(const std::vector<std::uint64_t> sequences, chosen(view, target, options.all));
    return render(view, options, sequences);
  };
  SALLYPORT_TRY(const std::string text, ledger::look_at(workspace->store(), receipts));
  SALLYPORT_CHECK_OK(write_output(options.out, text));
  return 0;
}

const Command kLedgerReceipt(
    "ledger receipt", "print the receipt of one entry, or of a whole call", ledger_receipt,
    [](Syntax& syntax, ReceiptOptions& options) {
      syntax
          .text("target", options.target, "id or sequence of an entry, or id of a call",
                "ID|CALL|SEQUENCE")
          .required();
      syntax.flag("--all", options.all, "print a list of receipts for the whole call");
      syntax.text("--format", options.format, "format [json]").choices({"json", "tlog-proof"});
      syntax.flag("--no-openings", options.no_openings, "leave out the content of sealed fields");
      syntax.file("--out", options.out, "file to write [standard output]");
    });

}  // namespace

}  // namespace sallyport::app
