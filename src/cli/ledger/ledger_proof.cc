// Consistency proofs between two sizes, and the checkpoints that were signed for them.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/try.h"
#include "cli/command.h"
#include "ledger/proof/cosigned.h"
#include "ledger/proof/receipt.h"
#include "ledger/proof/tree.h"
#include "ledger/read/query.h"
#include "records/selection.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct ProofOptions {
  std::string old_size;
  std::string new_size;
  bool checkpoints = false;
  std::optional<std::filesystem::path> out;
};

struct CheckpointOptions {
  std::optional<std::string> size;
  bool cosigned = false;
};

Result<std::string> signed_nearby(ledger::ReadView& view, std::uint64_t size) {
  SALLYPORT_TRY(const ledger::SignedNear near, ledger::signed_near(view, size));
  const auto& [before, after] = near;
  if (before && after) return fmt::format("{} and {} are", *before, *after);
  if (before || after) return fmt::format("{} is", before ? *before : *after);
  return std::string("none near it is");
}

Result<std::string> checkpoint_at(ledger::ReadView& view, std::uint64_t size) {
  SALLYPORT_TRY(
      const std::optional<ledger::StoredEntry> last,
      size == 0 ? Result<std::optional<ledger::StoredEntry>>(std::nullopt) : view.entry(size - 1));
  if (last && !last->checkpoint.empty()) return last->checkpoint;
  SALLYPORT_TRY(const std::uint64_t have, view.size());
  if (size == 0 || size > have) {
    return fail(
        ErrorCode::NotFound,
        fmt::format("there is no checkpoint of size {}; the ledger has {} entries", size, have));
  }
  SALLYPORT_TRY(const std::string nearby, signed_nearby(view, size));
  return fail(ErrorCode::NotFound,
              fmt::format("no checkpoint was signed at size {}; {}", size, nearby));
}

struct Proved {
  std::uint64_t old_size = 0;
  std::uint64_t new_size = 0;
  ledger::Proof proof;
  std::string old_note;
  std::string new_note;
};

Result<void> prove(ledger::ReadView& view, bool checkpoints, Proved& proved) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  if (proved.old_size == 0 || proved.old_size > proved.new_size || proved.new_size > size) {
    return fail(ErrorCode::InvalidInput, fmt::format("sizes {} and {} do not fit; 0 < A <= B <= {}",
                                                     proved.old_size, proved.new_size, size));
  }
  SALLYPORT_TRY(proved.proof, ledger::consistency_proof(proved.old_size, proved.new_size,
                                                        ledger::subtree_hash(view)));
  if (!checkpoints) return {};
  SALLYPORT_TRY(proved.old_note, checkpoint_at(view, proved.old_size));
  SALLYPORT_TRY(proved.new_note, checkpoint_at(view, proved.new_size));
  return {};
}

Result<std::uint64_t> wanted_size(ledger::ReadView& view, std::optional<std::uint64_t> wanted,
                                  bool cosigned) {
  if (wanted) return *wanted;
  if (!cosigned) return view.size();
  SALLYPORT_TRY(const std::optional<ledger::Cosigned> newest, ledger::newest_cosigned(view, 0));
  if (newest) return newest->size;
  return fail(ErrorCode::NotFound,
              "no witness has cosigned a checkpoint under the current key; see docs/witnesses.md");
}

std::string as_json(const Proved& proved, bool checkpoints) {
  json::array hashes;
  for (const Hash& hash : proved.proof) hashes.emplace_back(base64(hash));
  json::object object{
      {"old_size", proved.old_size}, {"new_size", proved.new_size}, {"proof", std::move(hashes)}};
  if (checkpoints) object["old_checkpoint"] = proved.old_note;
  if (checkpoints) object["new_checkpoint"] = proved.new_note;
  return canonical_json(object) + "\n";
}

Result<int> ledger_proof(const Context& context, const ProofOptions& options) {
  const bool beside = options.checkpoints && !context.json();
  if (beside && (!options.out || *options.out == "-")) {
    return fail(ErrorCode::InvalidInput,
                "--checkpoints writes two files beside the proof; name it with --out");
  }
  Proved proved;
  SALLYPORT_TRY(proved.old_size, count_from(options.old_size, "A"));
  SALLYPORT_TRY(proved.new_size, count_from(options.new_size, "B"));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  SALLYPORT_CHECK_OK(workspace->store().read(
      [&](ledger::ReadView& view) { return prove(view, options.checkpoints, proved); }));
  if (context.json()) {
    SALLYPORT_CHECK_OK(write_output(options.out, as_json(proved, options.checkpoints)));
    return 0;
  }
  if (beside) {
    const std::string name = options.out->string();
    SALLYPORT_CHECK_OK(write_output(fmt::format("{}.{}", name, proved.old_size), proved.old_note));
    SALLYPORT_CHECK_OK(write_output(fmt::format("{}.{}", name, proved.new_size), proved.new_note));
  }
  SALLYPORT_CHECK_OK(write_output(
      options.out, ledger::consistency_text(proved.old_size, proved.new_size, proved.proof)));
  return 0;
}

Result<int> ledger_checkpoint(const Context& context, const CheckpointOptions& options) {
  std::optional<std::uint64_t> wanted;
  if (options.size) {
    SALLYPORT_TRY(wanted, count_from(*options.size, "SIZE"));
  }
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  std::string note;
  std::uint64_t size = 0;
  SALLYPORT_CHECK_OK(workspace->store().read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(size, wanted_size(view, wanted, options.cosigned));
    SALLYPORT_TRY(note, checkpoint_at(view, size));
    SALLYPORT_TRY(note, ledger::with_cosignatures(view, size, std::move(note)));
    return {};
  }));
  SALLYPORT_CHECK_OK(write_output(
      std::nullopt, context.json()
                        ? canonical_json(json::object{{"size", size}, {"checkpoint", note}}) + "\n"
                        : note));
  return 0;
}

const Command kLedgerProof(
    "ledger proof", "print the consistency proof between two sizes", ledger_proof,
    [](Syntax& syntax, ProofOptions& options) {
      syntax.text("A", options.old_size, "the older size", "SIZE").required();
      syntax.text("B", options.new_size, "the newer size", "SIZE").required();
      syntax.flag("--checkpoints", options.checkpoints,
                  "also write both checkpoints: FILE.A, FILE.B");
      syntax.file("--out", options.out, "file to write [standard output]");
    });

const Command kLedgerCheckpoint("ledger checkpoint",
                                "print the newest signed checkpoint, or that of a size",
                                ledger_checkpoint, [](Syntax& syntax, CheckpointOptions& options) {
                                  const Option size = syntax.text("size", options.size,
                                                                  "the size [the newest]", "SIZE");
                                  syntax
                                      .flag("--cosigned", options.cosigned,
                                            "print the newest checkpoint that witnesses cosigned")
                                      .excludes(size);
                                });

}  // namespace

}  // namespace sallyport::app
