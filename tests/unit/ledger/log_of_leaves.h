// A log that exists only as leaf hashes, with every subtree hash made by RFC 6962's own definition.
#pragma once

#include <bit>
#include <map>
#include <string>
#include <vector>

#include "ledger/proof/merkle.h"

namespace sallyport::ledger {

// Returns the root of `leaves` as a tree of their own.
inline Hash root_of(const std::vector<Hash>& leaves) {
  Edge edge;
  for (const Hash& leaf : leaves) edge.append(leaf);
  return edge.root();
}

class LogOfLeaves {
 public:
  explicit LogOfLeaves(std::uint64_t size) {
    for (std::uint64_t i = 0; i < size; ++i) {
      leaves_.push_back(leaf_hash("{\"n\":" + std::to_string(i) + "}"));
    }
  }

  const Hash& leaf(std::uint64_t index) const { return leaves_[index]; }
  Hash root(std::uint64_t size) { return size == 0 ? empty_root() : hash_of(0, size); }

  Proof inclusion(std::uint64_t index, std::uint64_t size) {
    return inclusion_proof(index, size, subtrees()).value();
  }
  Proof consistency(std::uint64_t old_size, std::uint64_t size) {
    return consistency_proof(old_size, size, subtrees()).value();
  }

 private:
  Hash hash_of(std::uint64_t begin, std::uint64_t end) {
    if (end - begin == 1) return leaves_[begin];
    const auto [at, missing] = known_.try_emplace({begin, end});
    if (missing) {
      const std::uint64_t middle = begin + std::bit_floor(end - begin - 1);
      const Hash left = hash_of(begin, middle);
      at->second = node_hash(left, hash_of(middle, end));
    }
    return at->second;
  }
  SubtreeHash subtrees() {
    return [this](std::uint64_t begin, std::uint64_t end) -> Result<Hash> {
      return hash_of(begin, end);
    };
  }

  std::vector<Hash> leaves_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Hash> known_;
};

// Returns every proof that differs from `proof` in one small way: a flipped bit in one hash, or one
// hash more or less at either end.
inline std::vector<Proof> spoiled(const Proof& proof, std::uint64_t variety) {
  std::vector<Proof> all;
  for (std::size_t i = 0; i < proof.size(); ++i) {
    Proof flipped = proof;
    flipped[i][(variety + i) % 32] ^= static_cast<std::uint8_t>(1U << (variety % 8));
    all.push_back(std::move(flipped));
  }
  const Hash extra = proof.empty() ? Hash{} : proof.front();
  for (const bool front : {true, false}) {
    Proof longer = proof;
    longer.insert(front ? longer.begin() : longer.end(), extra);
    all.push_back(std::move(longer));
    if (proof.empty()) continue;
    Proof shorter = proof;
    shorter.erase(front ? shorter.begin() : shorter.end() - 1);
    all.push_back(std::move(shorter));
  }
  return all;
}

}  // namespace sallyport::ledger
