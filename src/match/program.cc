#include "match/program.h"

#include <algorithm>

namespace sallyport::match {

namespace {

// The most bits of the table of sets and character classes (64 MiB).
constexpr std::size_t kMostClassBits = std::size_t{1} << 29;
constexpr std::size_t kMostSets = 16'384;

unsigned place_of(Neighbour before, Neighbour after, bool final) {
  return (static_cast<unsigned>(before) * kNeighbours + static_cast<unsigned>(after)) * 2 +
         (final ? 1 : 0);
}

std::uint64_t bit(Neighbour before, Neighbour after, bool final) {
  return std::uint64_t{1} << place_of(before, after, final);
}

// Every character that may come next, and the end.
std::uint64_t any_after(Neighbour before) {
  std::uint64_t mask = 0;
  for (unsigned after = 0; after < kNeighbours; ++after) {
    mask |= bit(before, static_cast<Neighbour>(after), false);
  }
  return mask;
}

bool asks_for_whole_words(const Node& node) {
  return node.kind == Node::Kind::Assert &&
         (node.assertion == Assertion::NotAfterWord || node.assertion == Assertion::NotBeforeWord);
}

}  // namespace

bool Program::add(const Tree& tree) {
  limit_ = std::min(nodes_.size() + kMostNodesOfAnEntry, kMostNodes);
  const auto entry = static_cast<std::uint32_t>(starts_.size());
  starts_.push_back(0);
  const std::uint32_t accept = push({.kind = Node::Kind::Accept});
  starts_[entry] = emit(tree, accept);
  return nodes_.size() < limit_;
}

std::uint32_t Program::push(Node node) {
  node.entry = static_cast<std::uint32_t>(starts_.size() - 1);
  nodes_.push_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t Program::intern(const CharSet& set) {
  const auto [place, fresh] =
      known_sets_.try_emplace(set, static_cast<std::uint32_t>(sets_.size()));
  if (fresh) {
    sets_.push_back(set);
    neighbours_of_sets_.push_back(CharClasses::neighbours_in(set));
  }
  return place->second;
}

// Emits backwards: the following nodes exist before the nodes that lead to them.
std::uint32_t Program::emit(const Tree& tree, std::uint32_t next) {
  if (nodes_.size() >= limit_) return next;
  switch (tree.kind) {
    case Tree::Kind::Empty:
      return next;
    case Tree::Kind::Characters:
      return push({.kind = Node::Kind::Characters, .set = intern(tree.characters), .out = next});
    case Tree::Kind::Assert:
      return push({.kind = Node::Kind::Assert, .assertion = tree.assertion, .out = next});
    case Tree::Kind::Sequence:
      for (auto part = tree.parts.rbegin(); part != tree.parts.rend(); ++part) {
        next = emit(*part, next);
      }
      return next;
    case Tree::Kind::Choice: {
      std::uint32_t choice = emit(tree.parts.back(), next);
      for (auto part = tree.parts.rbegin() + 1; part != tree.parts.rend(); ++part) {
        choice = emit_split(emit(*part, next), choice, true);
      }
      return choice;
    }
    case Tree::Kind::Repeat:
      return emit_repeat(tree, next);
  }
  return next;
}

std::uint32_t Program::emit_split(std::uint32_t taken, std::uint32_t skipped, bool greedy) {
  if (!greedy) std::swap(taken, skipped);
  return push({.kind = Node::Kind::Split, .out = taken, .other = skipped});
}

std::uint32_t Program::emit_repeat(const Tree& tree, std::uint32_t next) {
  const Tree& body = tree.parts[0];
  unsigned copies = tree.least;
  if (tree.most != Tree::kNoLimit) {
    const std::uint32_t behind = next;
    for (unsigned i = tree.least; i < tree.most && nodes_.size() < limit_; ++i) {
      next = emit_split(emit(body, next), behind, tree.greedy);
    }
  } else if (tree.least > 0) {
    next = emit_plus(tree, next);
    --copies;
  } else if (body.can_be_empty()) {
    // As (x+)?: a turn that consumed nothing leaves the loop before any other way is tried.
    next = emit_split(emit_plus(tree, next), next, tree.greedy);
  } else {
    const std::uint32_t loop = emit_split(next, next, tree.greedy);
    const std::uint32_t begin = emit(body, loop);
    (tree.greedy ? nodes_[loop].out : nodes_[loop].other) = begin;
    next = loop;
  }
  for (unsigned i = 0; i < copies && nodes_.size() < limit_; ++i) next = emit(body, next);
  return next;
}

std::uint32_t Program::emit_plus(const Tree& tree, std::uint32_t next) {
  const std::uint32_t loop = emit_split(next, next, tree.greedy);
  const std::uint32_t begin = emit(tree.parts[0], loop);
  (tree.greedy ? nodes_[loop].out : nodes_[loop].other) = begin;
  return begin;
}

bool Program::settle() {
  if (sets_.size() > kMostSets) return false;
  classes_ = CharClasses(sets_, std::ranges::any_of(nodes_, asks_for_whole_words));
  if (classes_.count() * sets_.size() > kMostClassBits) return false;
  // A least fixed point; nodes lead to earlier ones except in loops, so a few rounds are enough.
  viable_.assign(nodes_.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const std::uint64_t now = viable_surroundings(nodes_[node]);
      changed = changed || now != viable_[node];
      viable_[node] = now;
    }
  }
  return true;
}

std::uint64_t Program::viable_surroundings(const Node& node) const {
  if (node.kind == Node::Kind::Accept) return ~std::uint64_t{0};
  if (node.kind == Node::Kind::Split) return viable_[node.out] | viable_[node.other];
  std::uint64_t mask = 0;
  for (unsigned b = 0; b < kNeighbours; ++b) {
    for (unsigned a = 0; a < kNeighbours; ++a) {
      const auto before = static_cast<Neighbour>(b);
      const auto after = static_cast<Neighbour>(a);
      for (const bool final : {false, true}) {
        bool good = false;
        if (node.kind == Node::Kind::Assert) {
          const Answer answer = decide(node.assertion, before, after);
          const bool must_end = final || answer == Answer::IfFinal;
          good = answer != Answer::No && (viable_[node.out] & bit(before, after, must_end)) != 0;
        } else if (after != Neighbour::Edge && (neighbours_of_sets_[node.set] >> a & 1) != 0) {
          good = final ? viable_at_end(node.out, after) : viable(node.out, after);
        }
        if (good) mask |= bit(before, after, final);
      }
    }
  }
  return mask;
}

bool Program::viable(std::uint32_t node, Neighbour before) const {
  return (viable_[node] & any_after(before)) != 0;
}

bool Program::viable_at_end(std::uint32_t node, Neighbour before) const {
  return (viable_[node] & bit(before, Neighbour::Edge, false)) != 0;
}

}  // namespace sallyport::match
