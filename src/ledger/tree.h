// The tree of a stored ledger: its right edge, its subtrees, its proofs.
#pragma once

#include "ledger/merkle.h"
#include "ledger/store.h"

namespace sallyport::ledger {

// The right edge at `size`, from stored nodes and the leaves behind the last whole block.
Result<Edge> edge_at(ReadView& view, std::uint64_t size);

// Root of the leaves [begin, end), for the proofs of merkle.h.
SubtreeHash subtree_hash(ReadView& view);

// Nodes that become complete when leaf `size - 1` is there, lowest level first.
struct CompletedNode {
  int level = 0;
  std::uint64_t position = 0;
  Hash hash{};
};
Result<std::vector<CompletedNode>> completed_nodes(ReadView& view, std::uint64_t size);

}  // namespace sallyport::ledger
