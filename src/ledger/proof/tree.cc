#include "ledger/proof/tree.h"

#include <fmt/format.h>

#include "base/try.h"

namespace sallyport::ledger {

namespace {

constexpr int kTileBits = 8;
constexpr int kTopLevel = 7;  // the widest that a number of 64 bits holds

std::uint64_t width(int level) {
  return std::uint64_t{1} << (kTileBits * level);
}

Result<std::vector<Hash>> hashes(ReadView& view, int level, std::uint64_t begin,
                                 std::uint64_t end) {
  SALLYPORT_TRY(std::vector<Hash> found,
                level == 0 ? view.leaves(begin, end) : view.nodes(level, begin, end));
  if (found.size() == end - begin) return found;
  return ledger_unavailable("corrupt", fmt::format("{} hashes of level {} from {} are missing",
                                                   end - begin - found.size(), level, begin));
}

// [begin, end) as an edge of its own, taking the largest stored subtrees that fit.
Result<Edge> edge_over(ReadView& view, std::uint64_t begin, std::uint64_t end) {
  Edge edge;
  std::uint64_t at = begin;
  for (int level = kTopLevel; level >= 0; --level) {
    const std::uint64_t count = (end - at) / width(level);
    if (count == 0) continue;
    const std::uint64_t first = at / width(level);
    SALLYPORT_TRY(std::vector<Hash> run, hashes(view, level, first, first + count));
    for (const Hash& hash : run) edge.append_subtree(hash, kTileBits * level);
    at += count * width(level);
  }
  return edge;
}

}  // namespace

Result<Edge> edge_at(ReadView& view, std::uint64_t size) {
  return edge_over(view, 0, size);
}

SubtreeHash subtree_hash(ReadView& view) {
  return [&view](std::uint64_t begin, std::uint64_t end) -> Result<Hash> {
    SALLYPORT_TRY(const Edge edge, edge_over(view, begin, end));
    return edge.root();
  };
}

Result<void> put_nodes(WriteView& view, const std::vector<Edge::Subtree>& completed) {
  for (const Edge::Subtree& subtree : completed) {
    if (subtree.height % kTileBits != 0) continue;
    SALLYPORT_CHECK_OK(view.put_node(subtree.height / kTileBits, subtree.position, subtree.root));
  }
  return {};
}

}  // namespace sallyport::ledger
