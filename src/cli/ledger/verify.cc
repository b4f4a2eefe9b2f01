// Offline verification: receipts and consistency proofs against a pinned key, and nothing else.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "cli/command.h"
#include "console/assets.h"
#include "ledger/proof/receipt.h"
#include "outside/witness_file.h"
#include "records/entry_summary.h"
#include "records/selection.h"
#include "terminal/input.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct VerifyOptions {
  std::vector<std::filesystem::path> files;
  std::optional<std::string> key;
  std::optional<std::string> origin;
  std::vector<std::filesystem::path> rotations;
  std::optional<std::filesystem::path> policy;  // whose quorum a checkpoint needs
  bool consistency = false;
  bool page = false;  // print the page that checks receipts in a browser, and check nothing
};

constexpr std::size_t kMaxReceipt = 16u << 20;
constexpr std::size_t kLongestNote = 64 * 1024;

constexpr std::pair<std::string_view, std::string_view> kReceiptSteps[] = {
    {"form", "strict JSON of a known schema"},
    {"key", "signed under the pinned name and key id"},
    {"signature", "the pinned key signed this checkpoint"},
    {"origin", "the checkpoint is of the expected log"},
    {"quorum", "a quorum of witnesses cosigned this checkpoint"},
    {"size", "tree_size is the checkpoint's"},
    {"position", "leaf_index is the entry's sequence, inside the tree"},
    {"inclusion", "the proof leads from this entry to the signed root"},
    {"opening", "each opened value matches its commitment"},
    {"meaning", "the entry and its body agree"},
};
constexpr std::pair<std::string_view, std::string_view> kConsistencySteps[] = {
    {"form", "checkpoints and proof are well-formed"},
    {"key", "signed under the pinned name and key id"},
    {"signature", "the pinned key signed both checkpoints"},
    {"origin", "both checkpoints are of the expected log"},
    {"quorum", "a quorum of witnesses cosigned both checkpoints"},
    {"size", "the proof is between their sizes"},
    {"inclusion", "the new tree begins with the old one"},
};

void print_steps(const Context& context, const ledger::Verification& answer,
                 std::span<const std::pair<std::string_view, std::string_view>> steps,
                 const ledger::Trust& trust) {
  const Terminal& terminal = context.terminal;
  for (const auto& [step, meaning] : steps) {
    if (step == "quorum" && !trust.policy) continue;
    const bool failed = !answer.ok && answer.step == step;
    print_line(fmt::format("{} {:<10} {}", terminal.mark(!failed), step,
                           failed ? visible(answer.detail) : std::string(meaning)));
    if (failed) break;
  }
}

void print_verdict(const Context& context, const ledger::Verification& answer) {
  const Terminal& terminal = context.terminal;
  print_line(answer.ok
                 ? terminal.paint(Paint::Good, "verified")
                 : terminal.paint(Paint::Bad, fmt::format("NOT VALID at step {}", answer.step)));
}

// Only printed for a receipt that passed: until then these are claims.
void print_meaning(std::string_view text) {
  const Result<ledger::Receipt> receipt = ledger::Receipt::parse(text);
  const Result<json::value> entry =
      receipt ? parse_own_json(receipt->entry) : std::unexpected(receipt.error());
  if (!entry) return;
  const json::object& object = entry->get_object();
  const auto row = [](std::string_view name, std::string_view value) {
    if (!value.empty()) print_line(fmt::format("  {:<8} {}", name, value));
  };
  const auto member = [&](std::string_view name) {
    return visible(text_in(object, name).value_or(""));
  };
  const std::string server = member("server");
  row("entry",
      fmt::format("{} of {}, {}", receipt->leaf_index, receipt->tree_size, member("kind")));
  row("when", member("recorded_at"));
  row("who", member("agent_id"));
  row("tool", member("tool_name") + (server.empty() ? "" : " on " + server));
  row("outcome", member("outcome"));
  row("call", member("call_id"));
  row("policy", member("policy_hash"));
  row("says", summary_of(*entry, ledger::opened_body(*entry, receipt->openings)));
  for (const ledger::Opening& opening : receipt->openings) {
    row("opened", visible(opening.path));
  }
}

// The pinned key: as given, else that of the one log in the policy.
Result<ledger::VerifierKey> pinned_key(const VerifyOptions& options,
                                       const std::optional<ledger::WitnessPolicy>& policy) {
  if (options.key) return key_from(*options.key);
  if (policy && policy->logs.size() == 1) return policy->logs.front().key;
  return fail(ErrorCode::InvalidInput,
              policy ? "the policy names no log, or several; give --key VKEY"
                     : "a receipt proves nothing without a key that came another way; give --key "
                       "VKEY");
}

Result<ledger::Trust> trust_from(const VerifyOptions& options) {
  std::optional<ledger::WitnessPolicy> policy;
  if (options.policy) {
    SALLYPORT_TRY(policy, load_witness_policy(*options.policy));
  }
  SALLYPORT_TRY(ledger::VerifierKey key, pinned_key(options, policy));
  ledger::Trust trust{.key = std::move(key), .origin = options.origin, .policy = std::move(policy)};
  for (const std::filesystem::path& file : options.rotations) {
    SALLYPORT_TRY(std::string rotation, read_input(file, kMaxReceipt + 1));
    trust.rotations.push_back(std::move(rotation));
  }
  return trust;
}

// The receipts of a list; no value when the text is no list.
std::optional<json::array> receipts_in(std::string_view text) {
  if (!trimmed(text.substr(0, 1024)).starts_with('[')) return std::nullopt;
  Result<json::value> list = parse_own_json(text, {.bytes = kMaxReceipt, .depth = 129});
  if (!list || !list->is_array()) return std::nullopt;
  return std::move(list->get_array());
}

void print_verification(const Context& context, const ledger::Verification& answer,
                        std::string_view text, const ledger::Trust& trust) {
  if (context.json()) return print_line(visible_json(canonical_json(answer.to_json())));
  print_steps(context, answer, kReceiptSteps, trust);
  if (answer.ok) print_meaning(text);
  print_verdict(context, answer);
}

bool answer_one(const Context& context, std::string_view text, const ledger::Trust& trust) {
  const ledger::Verification answer = ledger::verify_receipt(text, trust);
  print_verification(context, answer, text, trust);
  return answer.ok;
}

Result<int> verify_receipts(const Context& context, const VerifyOptions& options,
                            const ledger::Trust& trust) {
  if (options.files.size() != 1) {
    return fail(ErrorCode::InvalidInput, "name one receipt, or - for standard input");
  }
  SALLYPORT_TRY(const std::string text, read_input(options.files.front(), kMaxReceipt + 1));
  const std::optional<json::array> list = receipts_in(text);
  if (!list) return answer_one(context, text, trust) ? 0 : 1;
  if (list->empty()) {
    print_verification(context, {.step = "form", .detail = "the list holds no receipt"}, text,
                       trust);
    return 1;
  }
  bool all_good = true;
  for (const json::value& receipt : *list) {
    if (!context.json() && &receipt != &list->front()) print_line("");
    // One at a time as text again: a list may hold millions of next to nothing.
    all_good = answer_one(context, canonical_json(receipt), trust) && all_good;
  }
  if (!context.json()) {
    print_line(fmt::format("\n{} receipts, {}", list->size(),
                           all_good ? "all verified" : "NOT ALL VALID"));
  }
  return all_good ? 0 : 1;
}

// `ledger checkpoint` and `ledger proof` have a second form, with --json. Other text is passed on
// unchanged, and fails when it is parsed.
std::optional<json::object> printed_object(const std::string& text) {
  if (!text.starts_with('{')) return std::nullopt;
  Result<json::value> value = parse_own_json(text, {.bytes = kLongestNote});
  return value && value->is_object() ? std::optional(value->get_object()) : std::nullopt;
}

std::string note_in(std::string text) {
  const std::optional<json::object> printed = printed_object(text);
  const auto note = printed ? text_in(*printed, "checkpoint") : std::nullopt;
  return note ? std::string(*note) : text;
}

std::string proof_in(std::string text) {
  const std::optional<json::object> printed = printed_object(text);
  const json::value* const hashes = printed ? printed->if_contains("proof") : nullptr;
  const auto older = printed ? number_in(*printed, "old_size") : std::nullopt;
  const auto newer = printed ? number_in(*printed, "new_size") : std::nullopt;
  if (hashes == nullptr || !hashes->is_array() || !older || !newer) return text;
  std::string lines = fmt::format("sallyport/consistency-proof/v1\n{}\n{}\n", *older, *newer);
  for (const json::value& hash : hashes->get_array()) {
    if (!hash.is_string()) return text;
    lines += fmt::format("{}\n", std::string_view(hash.get_string()));
  }
  return lines;
}

Result<int> verify_between(const Context& context, const VerifyOptions& options,
                           const ledger::Trust& trust) {
  if (options.files.size() != 3) {
    return fail(ErrorCode::InvalidInput,
                "--consistency takes three files: OLD and NEW checkpoint and the PROOF between");
  }
  SALLYPORT_TRY(const std::string older, read_input(options.files[0], kLongestNote));
  SALLYPORT_TRY(const std::string newer, read_input(options.files[1], kLongestNote));
  SALLYPORT_TRY(const std::string proof, read_input(options.files[2], kLongestNote));
  const ledger::Verification answer =
      ledger::verify_consistency(note_in(older), note_in(newer), proof_in(proof), trust);
  if (context.json()) {
    print_line(visible_json(canonical_json(answer.to_json())));
  } else {
    print_steps(context, answer, kConsistencySteps, trust);
    print_verdict(context, answer);
  }
  return answer.ok ? 0 : 1;
}

Result<int> verify(const Context& context, const VerifyOptions& options) {
  if (options.page) {
    const std::string_view page = console::verify_page();
    std::fwrite(page.data(), 1, page.size(), stdout);
    return 0;
  }
  if (options.files.empty()) {
    return fail(ErrorCode::InvalidInput, "name a receipt, or - for standard input");
  }
  SALLYPORT_TRY(const ledger::Trust trust, trust_from(options));
  return options.consistency ? verify_between(context, options, trust)
                             : verify_receipts(context, options, trust);
}

const Command kVerify(
    "verify", "check a receipt offline, with nothing but a key", verify,
    [](Syntax& syntax, VerifyOptions& options) {
      const Option receipt =
          syntax.files("receipt", options.files,
                       "a receipt, or - for standard input; OLD NEW PROOF with --consistency");
      syntax.text("--key", options.key, "pinned verifier key, or a file that holds it", "VKEY");
      syntax.text("--origin", options.origin, "name of the log [that of the key]", "NAME");
      syntax.files("--rotation", options.rotations,
                   "receipt of a key rotation, oldest first; may be repeated");
      syntax.file("--policy", options.policy,
                  "witnesses whose quorum must have cosigned (C2SP tlog-policy)");
      syntax.flag("--consistency", options.consistency,
                  "check that one checkpoint continues another");
      syntax.flag("--page", options.page, "print a page that checks receipts in a browser, offline")
          .excludes(receipt);
    });

}  // namespace

}  // namespace sallyport::app
