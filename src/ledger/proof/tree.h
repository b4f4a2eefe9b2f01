// The tree of a stored ledger: its right edge, its subtrees, its proofs.
#pragma once

#include "ledger/proof/merkle.h"
#include "ledger/store.h"

namespace sallyport::ledger {

// The right edge at `size`, from stored nodes and the leaves behind the last whole block.
Result<Edge> edge_at(ReadView& view, std::uint64_t size);

// Root of the leaves [begin, end), for the proofs of merkle.h.
SubtreeHash subtree_hash(ReadView& view);

// Stores those of the completed subtrees that are nodes of the stored tree.
Result<void> put_nodes(WriteView& view, const std::vector<Edge::Subtree>& completed);

}  // namespace sallyport::ledger
