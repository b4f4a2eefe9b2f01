// A receipt holds one entry, the proof that leads from it to a signed root, and the contents of its
// sealed fields. A reader needs only the receipt and a verifier key to check it (LE-29..LE-38).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/entry/entry.h"
#include "ledger/proof/merkle.h"
#include "ledger/proof/note.h"
#include "ledger/proof/witness_policy.h"
#include "ledger/store.h"

namespace sallyport::ledger {

inline constexpr std::size_t kMaxProof = 64;  // hashes of one proof (LE-78)

struct Receipt {
  std::string entry;  // canonical bytes
  std::uint64_t leaf_index = 0;
  std::uint64_t tree_size = 0;
  Proof proof;
  std::string checkpoint;
  std::vector<Opening> openings;  // only open ones

  std::string json() const;        // sallyport.receipt.v1
  std::string tlog_proof() const;  // c2sp.org/tlog-proof@v1, entry bytes as `extra`

  // The step `form`: strict JSON, known members, limits of LE-78; or a tlog-proof of ours.
  static Result<Receipt> parse(std::string_view text);
};

bool is_tlog_proof(std::string_view text);
Result<Receipt> parse_tlog_proof(std::string_view text);

// Uses the newest checkpoint above the entry that witnesses cosigned, if there is one, else the
// newest; for a key rotation, the one that both keys signed. `NotFound`: there is no such entry, or
// it was pruned. `Corrupt`: the receipt would prove nothing. Receipts with the same `last` entry
// use the same checkpoint (LE-31).
Result<Receipt> make_receipt(ReadView& view, std::uint64_t sequence, bool with_openings,
                             std::uint64_t last = 0);

// The result of a verification, which ends at the first failing step.
struct Verification {
  bool ok = false;
  std::string step;  // the failed one, or the last one when all passed
  std::string detail;
  std::string origin;
  std::uint64_t sequence = 0;
  std::string recorded_at;
  std::string kind;

  json::object to_json() const;
};

struct Trust {
  VerifierKey key;
  std::optional<std::string> origin;  // else the key's name
  // Receipts of `key_rotated` entries, in order: their new keys are trusted like `key` (LE-27).
  std::vector<std::string> rotations{};
  // Only checkpoints that a quorum of its witnesses cosigned count. No value: no quorum is needed.
  std::optional<WitnessPolicy> policy{};
};

Verification verify_receipt(std::string_view text, const Trust& trust);

// A consistency proof as text: `old size`, `new size` and one base64 hash a line.
std::string consistency_text(std::uint64_t old_size, std::uint64_t new_size, const Proof& proof);

// Two signed checkpoints and the proof between them (LE-38).
Verification verify_consistency(std::string_view old_note, std::string_view new_note,
                                std::string_view proof, const Trust& trust);

}  // namespace sallyport::ledger
