// The tree of RFC 6962 section 2.1 over SHA-256: hashes, proofs and their verification.
// Everything here is a pure function or a value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "sallyport/result.h"

namespace sallyport::ledger {

using Proof = std::vector<Hash>;

Hash leaf_hash(std::string_view entry);
Hash node_hash(const Hash& left, const Hash& right);
Hash empty_root();

// The right edge of a tree: the roots of its perfect subtrees, largest first. Appending touches
// only this, whatever the size of the log.
class Edge {
 public:
  // A perfect subtree of 2^height leaves; `position` counts subtrees of that height.
  struct Subtree {
    int height = 0;
    std::uint64_t position = 0;
    Hash root{};
  };

  std::uint64_t size() const { return size_; }
  // Adds the subtrees that the leaf completes to `completed`, lowest first, unless it is null.
  void append(const Hash& leaf, std::vector<Subtree>* completed = nullptr);
  Hash root() const;

  // Takes a perfect subtree of 2^height leaves; the size must be a multiple of that.
  void append_subtree(const Hash& root, int height, std::vector<Subtree>* completed = nullptr);

  bool operator==(const Edge&) const = default;

 private:
  std::uint64_t size_ = 0;
  std::vector<Hash> peaks_;
};

// Gives the root of the leaves [begin, end) of one log; begin is a multiple of the smallest power
// of two that is not below end - begin.
using SubtreeHash = std::function<Result<Hash>(std::uint64_t begin, std::uint64_t end)>;

// From the leaf's sibling to the root's child. `index` < `size`.
Result<Proof> inclusion_proof(std::uint64_t index, std::uint64_t size, const SubtreeHash& hash);

// 0 < `old_size` <= `size`; empty when they are equal.
Result<Proof> consistency_proof(std::uint64_t old_size, std::uint64_t size,
                                const SubtreeHash& hash);

// The root to which the proof leads. No value: the proof has a wrong length or place.
std::optional<Hash> root_from_inclusion(std::uint64_t index, std::uint64_t size, const Hash& leaf,
                                        const Proof& proof);

bool consistent(std::uint64_t old_size, const Hash& old_root, std::uint64_t size, const Hash& root,
                const Proof& proof);

}  // namespace sallyport::ledger
