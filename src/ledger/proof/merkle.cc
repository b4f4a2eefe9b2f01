#include "ledger/proof/merkle.h"

#include <bit>

#include "base/try.h"

namespace sallyport::ledger {

Hash leaf_hash(std::string_view entry) {
  return sha256({std::string_view("\0", 1), entry});
}

Hash node_hash(const Hash& left, const Hash& right) {
  return sha256({std::string_view("\1", 1), text_of(left), text_of(right)});
}

Hash empty_root() {
  return sha256("");
}

void Edge::append(const Hash& leaf, std::vector<Subtree>* completed) {
  append_subtree(leaf, 0, completed);
}

void Edge::append_subtree(const Hash& root, int height, std::vector<Subtree>* completed) {
  SALLYPORT_INVARIANT((size_ & ((std::uint64_t{1} << height) - 1)) == 0);
  Hash hash = root;
  for (std::uint64_t bit = std::uint64_t{1} << height; size_ & bit; bit <<= 1) {
    hash = node_hash(peaks_.back(), hash);
    peaks_.pop_back();
    // The carry goes through every perfect subtree that the new one completes.
    size_ -= bit;
    height += 1;
    if (completed != nullptr) completed->push_back({height, size_ >> height, hash});
  }
  peaks_.push_back(hash);
  size_ += std::uint64_t{1} << height;
}

Hash Edge::root() const {
  if (peaks_.empty()) return empty_root();
  Hash hash = peaks_.back();
  for (std::size_t i = peaks_.size() - 1; i-- > 0;) hash = node_hash(peaks_[i], hash);
  return hash;
}

namespace {

// The largest power of two below `size`, which is where RFC 6962 splits a tree.
std::uint64_t split(std::uint64_t size) {
  return std::bit_floor(size - 1);
}

Result<void> add_inclusion(std::uint64_t index, std::uint64_t begin, std::uint64_t end,
                           const SubtreeHash& hash, Proof& proof) {
  if (end - begin == 1) return {};
  const std::uint64_t middle = begin + split(end - begin);
  const bool left = index < middle;
  SALLYPORT_CHECK_OK(left ? add_inclusion(index, begin, middle, hash, proof)
                          : add_inclusion(index, middle, end, hash, proof));
  SALLYPORT_TRY(Hash sibling, left ? hash(middle, end) : hash(begin, middle));
  proof.push_back(sibling);
  return {};
}

// SUBPROOF of RFC 6962 2.1.2; `known` says that the old root itself is this subtree.
Result<void> add_consistency(std::uint64_t old_size, std::uint64_t begin, std::uint64_t end,
                             bool known, const SubtreeHash& hash, Proof& proof) {
  if (old_size == end - begin) {
    if (known) return {};
    SALLYPORT_TRY(Hash own, hash(begin, end));
    proof.push_back(own);
    return {};
  }
  const std::uint64_t left = split(end - begin);
  if (old_size <= left) {
    SALLYPORT_CHECK_OK(add_consistency(old_size, begin, begin + left, known, hash, proof));
    SALLYPORT_TRY(Hash right, hash(begin + left, end));
    proof.push_back(right);
    return {};
  }
  SALLYPORT_CHECK_OK(add_consistency(old_size - left, begin + left, end, false, hash, proof));
  SALLYPORT_TRY(Hash whole_left, hash(begin, begin + left));
  proof.push_back(whole_left);
  return {};
}

}  // namespace

Result<Proof> inclusion_proof(std::uint64_t index, std::uint64_t size, const SubtreeHash& hash) {
  Proof proof;
  SALLYPORT_CHECK_OK(add_inclusion(index, 0, size, hash, proof));
  return proof;
}

Result<Proof> consistency_proof(std::uint64_t old_size, std::uint64_t size,
                                const SubtreeHash& hash) {
  Proof proof;
  SALLYPORT_CHECK_OK(add_consistency(old_size, 0, size, true, hash, proof));
  return proof;
}

std::optional<Hash> root_from_inclusion(std::uint64_t index, std::uint64_t size, const Hash& leaf,
                                        const Proof& proof) {
  if (index >= size) return std::nullopt;
  Hash hash = leaf;
  std::uint64_t node = index;
  std::uint64_t last = size - 1;
  for (const Hash& sibling : proof) {
    if (last == 0) return std::nullopt;
    if ((node & 1) != 0 || node == last) {
      hash = node_hash(sibling, hash);
      // A lone node is carried up without a sibling of its own.
      while ((node & 1) == 0 && node != 0) {
        node >>= 1;
        last >>= 1;
      }
    } else {
      hash = node_hash(hash, sibling);
    }
    node >>= 1;
    last >>= 1;
  }
  if (last != 0) return std::nullopt;
  return hash;
}

bool consistent(std::uint64_t old_size, const Hash& old_root, std::uint64_t size, const Hash& root,
                const Proof& proof) {
  if (old_size == size) return proof.empty() && old_root == root;
  if (old_size == 0 || old_size > size) return false;
  if (proof.empty()) return false;
  std::size_t next = 0;
  // Where the old tree is a perfect subtree, its root is known and not repeated in the proof.
  const Hash start = std::has_single_bit(old_size) ? old_root : proof[next++];
  Hash old_hash = start;
  Hash new_hash = start;
  std::uint64_t node = old_size - 1;
  std::uint64_t last = size - 1;
  while (node & 1) {
    node >>= 1;
    last >>= 1;
  }
  for (; next < proof.size(); ++next) {
    if (last == 0) return false;
    if ((node & 1) != 0 || node == last) {
      old_hash = node_hash(proof[next], old_hash);
      new_hash = node_hash(proof[next], new_hash);
      while ((node & 1) == 0 && node != 0) {
        node >>= 1;
        last >>= 1;
      }
    } else {
      new_hash = node_hash(new_hash, proof[next]);
    }
    node >>= 1;
    last >>= 1;
  }
  return last == 0 && old_hash == old_root && new_hash == root;
}

}  // namespace sallyport::ledger
