// Cosignatures of witnesses, stored beside the log as facts by size. No byte of an entry changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ledger/ledger.h"
#include "ledger/proof/witness_policy.h"
#include "ledger/store.h"

namespace sallyport::ledger {

// Cosignatures are kept for this many newest sizes, and for the newest one with a quorum.
inline constexpr std::size_t kKeptSizes = 16;

struct Cosigned {
  std::uint64_t size = 0;
  bool has_quorum = false;  // of the policy at the time
  std::string lines{};      // of the note, each with its LF
};

// No value: no witness has cosigned the checkpoint of this size, or it is no longer stored.
Result<std::optional<Cosigned>> cosigned_at(ReadView& view, std::uint64_t size);

// The newest size above `sequence`: with a quorum if there is one, else with any cosignature. Its
// log key is that of the newest checkpoint, so that it can be checked with that key.
Result<std::optional<Cosigned>> newest_cosigned(ReadView& view, std::uint64_t sequence);

// Adds verified lines to those of this size, and removes older ones. `checkpoint` is the note that
// they are for, as it is stored.
Result<void> keep_cosignatures(WriteView& view, std::string_view checkpoint,
                               const std::vector<NoteSignature>& lines,
                               const WitnessPolicy& policy);

// Records that the checkpoint of this size is about to be offered to witnesses. When it returns,
// the log up to there is on disk: a commit that did not wait for the disk may be lost in a power
// loss, and a witness never forgets a checkpoint (SC-22). Blocks.
Result<void> note_offered(Ledger& ledger, std::uint64_t size);

// A stored checkpoint with the cosignatures that are kept for its size.
Result<std::string> with_cosignatures(ReadView& view, std::uint64_t size, std::string checkpoint);

}  // namespace sallyport::ledger
