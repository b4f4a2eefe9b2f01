#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <set>
#include <thread>

#include "base/try.h"
#include "cli/common_options.h"
#include "ledger/proof/cosigned.h"
#include "ledger/proof/verify.h"
#include "ledger/read/look_at.h"
#include "ledger/secret/key_folder.h"
#include "ledger/secret/private_file.h"
#include "outside/witness_file.h"
#include "people/registered_reviewers.h"
#include "records/gaps.h"
#include "records/passkey_history.h"
#include "records/selection.h"
#include "records/trust_records.h"
#include "terminal/input.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct LedgerVerifyOptions {
  std::optional<std::filesystem::path> file;
  std::optional<std::filesystem::path> since;
  std::optional<std::string> key;
  std::optional<std::filesystem::path> policy;
  std::vector<std::filesystem::path> reviewers;
  bool gaps = false;
};

constexpr std::size_t kMaxNote = 64 * 1024;

struct Pin {
  std::optional<ledger::VerifierKey> key;
  std::string source;
};

Result<Pin> pinned_key(const LedgerVerifyOptions& options,
                       const std::optional<ledger::WitnessPolicy>& policy,
                       const Workspace::Place& place) {
  if (options.key) {
    SALLYPORT_TRY(ledger::VerifierKey key, key_from(*options.key));
    return Pin{std::move(key), "--key"};
  }
  if (policy && policy->logs.size() == 1) return Pin{policy->logs.front().key, "--policy"};
  // A key that cannot be read is no reason to verify less without an error.
  SALLYPORT_TRY(const std::optional<std::string> text, ledger::read_private_file(place.key_file()));
  if (!text) return Pin{{}, "none: the ledger is only checked against itself"};
  const Result<ledger::SigningKey> key = ledger::SigningKey::parse(*text);
  if (!key) {
    return fail(ErrorCode::Corrupt,
                fmt::format("{} is spoiled: {}; restore it from a copy, or pin a key with --key",
                            place.key_file().string(), key.error().message));
  }
  return Pin{key->verifier(), place.key_file().string()};
}

// No value for the copy of an auditor, which has no secrets. If the signing key is there without
// the other key, no seal is valid.
std::optional<KeyedDigest> digest_of(const Workspace::Place& place) {
  const Result<std::optional<std::string>> key = ledger::KeyFolder::kept_digest_key(place.data_dir);
  std::error_code code;
  if (key && *key) return KeyedDigest(**key);
  if (key && std::filesystem::exists(place.key_file(), code)) return KeyedDigest("");
  if (key) return std::nullopt;
  fmt::print(stderr, "sallyport: the facts beside the entries were not checked: {}\n",
             key.error().message);
  return std::nullopt;
}

// Read before the ledger is: a witness is never newer than what is committed by then.
Result<std::optional<std::string>> kept_checkpoint(const LedgerVerifyOptions& options,
                                                   const Workspace::Place& place) {
  if (options.since) {
    SALLYPORT_TRY(std::string note, read_input(*options.since, kMaxNote));
    const Result<ledger::Note> parsed = ledger::Note::parse(note);
    if (parsed) return note;
    return fail(ErrorCode::InvalidInput, fmt::format("no checkpoint: {}", parsed.error().message),
                options.since->string());
  }
  if (place.witness_file().empty()) return std::nullopt;
  return ledger::read_private_file(place.witness_file());
}

// The size of the newest checkpoint that a quorum cosigned. `report` says that the entries fit every
// checkpoint of the log, so they fit this one.
Result<std::optional<std::uint64_t>> witnessed_size(ledger::LedgerStore& store,
                                                    const ledger::WitnessPolicy& policy,
                                                    ledger::LedgerReport& report) {
  std::optional<std::uint64_t> size;
  std::string missing = "no witness has cosigned a checkpoint of this log";
  SALLYPORT_CHECK_OK(store.read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const std::optional<ledger::Cosigned> newest, ledger::newest_cosigned(view, 0));
    if (!newest || newest->size > report.tree_size) return {};
    SALLYPORT_TRY(const std::optional<ledger::StoredEntry> last, view.entry(newest->size - 1));
    if (!last) return {};
    SALLYPORT_TRY(const ledger::Note note, ledger::Note::parse(last->checkpoint + newest->lines));
    const Result<std::set<std::string>> cosigners = ledger::require_quorum(note, policy);
    if (cosigners) {
      size = newest->size;
    } else {
      missing = fmt::format("checkpoint {}: {}", newest->size, cosigners.error().message);
    }
    return {};
  }));
  if (size) return size;
  report.ok = false;
  report.first_bad = ledger::Fault{report.tree_size, "quorum", missing};
  return size;
}

void print_gaps(const GapList& list, const Terminal& terminal) {
  constexpr std::size_t kShown = 40;
  if (list.gaps().empty()) return print_line("gaps       none");
  print_line(fmt::format("gaps       {}", list.gaps().size() + list.left_out()));
  for (std::size_t i = 0; i < std::min(kShown, list.gaps().size()); ++i) {
    const Gap& gap = list.gaps()[i];
    print_line(fmt::format("  {:>8}  {}  {} {}", gap.sequence, gap.at,
                           terminal.paint(Paint::Doubtful, fitted(to_string(gap.kind), 16)),
                           gap.detail));
  }
  if (list.gaps().size() > kShown) print_line("            ... all of them with --json --gaps");
}

// For a file on a machine that knows none of its people.
std::string unjudged_warning(const ledger::LedgerReport& report) {
  return fmt::format(
      "no reviewers are known here, so who signed was not checked for {} promotions, demotions, "
      "passkeys or answers; name the lists of that log with `--reviewers FILE`",
      report.unjudged);
}

void print(const Context& context, const ledger::LedgerReport& report, const GapList& gaps,
           bool with_gaps, const std::string& pin,
           const std::optional<std::uint64_t>& witnessed = std::nullopt) {
  if (context.json()) {
    json::object object = report.to_json();
    if (witnessed) object["witnessed"] = *witnessed;
    if (report.unjudged > 0)
      object["warnings"] = json::array{json::value(unjudged_warning(report))};
    if (with_gaps) object["gaps"] = gaps.to_json();
    return print_line(visible_json(canonical_json(object)));
  }
  const Terminal& terminal = context.terminal;
  print_line(fmt::format("entries    {}", report.tree_size));
  print_line(fmt::format("origin     {}", visible(report.origin)));
  print_line(fmt::format("pinned     {}", visible(pin)));
  if (report.first_bad) {
    print_line(fmt::format("{} {} at entry {}: {}", terminal.paint(Paint::Bad, "NOT VALID"),
                           report.first_bad->check, report.first_bad->sequence,
                           visible(report.first_bad->detail)));
    return;
  }
  if (report.openings_missing) {
    print_line(
        *report.openings_missing == 0
            ? "openings   all that the log has"
            : terminal.paint(Paint::Doubtful,
                             fmt::format("openings   {} are left out, and no erasure explains that",
                                         *report.openings_missing)));
  }
  if (report.unjudged > 0) {
    print_line(terminal.paint(Paint::Doubtful, "warning    " + unjudged_warning(report)));
  }
  print_gaps(gaps, terminal);
  if (witnessed) print_line(fmt::format("witnessed  {} entries, by a quorum", *witnessed));
  print_line(terminal.paint(Paint::Good, "verified"));
}

Result<int> verify_file(const Context& context, const LedgerVerifyOptions& options) {
  if (!options.key) {
    return fail(ErrorCode::InvalidInput,
                "a file is checked against a key that came another way; give --key VKEY");
  }
  if (options.since) {
    return fail(ErrorCode::InvalidInput, "--since is for a ledger, not for a file");
  }
  if (options.policy) {
    return fail(ErrorCode::InvalidInput,
                "an export holds no cosignatures; --policy is for a ledger, and for receipts with "
                "`sallyport verify`");
  }
  if (*options.file == "-") {
    return fail(ErrorCode::InvalidInput, "an export is read twice; give a file, not a pipe");
  }
  SALLYPORT_TRY(const ledger::VerifierKey key, key_from(*options.key));
  SALLYPORT_CHECK_OK(read_input(*options.file, 1));
  std::ifstream lines(*options.file, std::ios::binary);
  SALLYPORT_TRY(const trust::Reviewers reviewers, reviewers_for_file(context, options.reviewers));
  const bool known = !reviewers.people.empty();
  const ledger::LedgerReport report =
      ledger::verify_export(lines, key, known ? signed_by(reviewers) : ledger::CheckControl(),
                            known ? passkeys_of(reviewers) : ledger::CheckPasskeys());
  GapList gaps;
  if (report.ok) {
    std::ifstream again(*options.file, std::ios::binary);
    SALLYPORT_TRY(gaps, find_gaps(again));
  }
  print(context, report, gaps, options.gaps, "--key");
  return report.ok ? 0 : 1;
}

// A file that SQLite cannot even open is a finding, with its place, and no usage error.
Result<int> report_unreadable(const Context& context, const Error& error) {
  if (error.cause != "corrupt") return std::unexpected(error);
  ledger::LedgerReport report;
  report.first_bad = ledger::Fault{0, "storage", error.message};
  print(context, report, {}, false, "");
  return 1;
}

// An error of the machine proves nothing about the ledger: no memory, no descriptors, a lock, a
// failing disk.
std::optional<Error> could_not_look(const ledger::LedgerReport& report) {
  const std::optional<ledger::Fault>& bad = report.first_bad;
  if (!bad || bad->cause.empty() || bad->cause == "corrupt") return std::nullopt;
  return Error{ErrorCode::Unavailable,
               fmt::format("the ledger could not be checked, so it may be valid or not: {}; repair "
                           "that and run the command again",
                           bad->detail),
               {},
               bad->cause};
}

// LE-51: cut back to nothing.
int report_gone(const Context& context) {
  ledger::LedgerReport report;
  report.first_bad = ledger::Fault{0, "checkpoint_consistency",
                                   "the ledger is gone, a kept checkpoint saw one; restore it"};
  print(context, report, {}, false, "");
  return 1;
}

Result<int> ledger_verify(const Context& context, const LedgerVerifyOptions& options) {
  if (options.file) return verify_file(context, options);
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  std::optional<ledger::WitnessPolicy> policy;
  if (options.policy) {
    SALLYPORT_TRY(policy, load_witness_policy(*options.policy));
  }
  SALLYPORT_TRY(const Pin pin, pinned_key(options, policy, place));
  SALLYPORT_TRY(const std::optional<std::string> since, kept_checkpoint(options, place));
  const Result<std::unique_ptr<Workspace>> workspace = Workspace::open_reading(place);
  if (!workspace && workspace.error().code == ErrorCode::NotFound && since) {
    return report_gone(context);
  }
  if (!workspace) return report_unreadable(context, workspace.error());
  Context::report_newer(**workspace);
  SALLYPORT_TRY(const trust::Reviewers reviewers,
                reviewers_of_all_times(context, options.reviewers));
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
  ledger::LedgerStore& store = (*workspace)->store();
  const std::optional<KeyedDigest> digest = digest_of(place);
  ledger::LedgerReport report =
      ledger::verify_ledger(store, pin.key, since, threads, digest ? &*digest : nullptr,
                            signed_by(reviewers), passkeys_of(reviewers));
  if (const std::optional<Error> error = could_not_look(report)) return std::unexpected(*error);
  std::optional<std::uint64_t> witnessed;
  if (report.ok && policy) {
    SALLYPORT_TRY(witnessed, witnessed_size(store, *policy, report));
  }
  GapList gaps;
  if (report.ok && (!context.json() || options.gaps)) {
    SALLYPORT_TRY(gaps, ledger::look_at(store, [](auto& view) { return find_gaps(view); }));
  }
  print(context, report, gaps, options.gaps, pin.source, witnessed);
  return report.ok ? 0 : 1;
}

const Command kLedgerVerify(
    "ledger verify", "check the whole ledger and report the first fault", ledger_verify,
    [](Syntax& syntax, LedgerVerifyOptions& options) {
      syntax.file("file", options.file, "a JSON Lines export instead of the ledger");
      syntax.file("--since", options.since, "a checkpoint kept elsewhere [the witness]");
      syntax.text("--key", options.key, "verifier key, or a file that holds it", "VKEY");
      syntax.file("--policy", options.policy,
                  "witnesses whose quorum must have cosigned the log (C2SP tlog-policy)");
      believed_reviewers(syntax, options.reviewers);
      syntax.flag("--gaps", options.gaps, "with --json: also list gaps");
    });

}  // namespace

}  // namespace sallyport::app
