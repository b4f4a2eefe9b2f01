// A node takes three or four bytes: most lead to the previous node, and few surroundings differ.
#include <limits>
#include <map>

#include "match/program.h"

namespace sallyport::match {

namespace {

constexpr unsigned kKinds = 4;
constexpr unsigned kAssertions = 9;

// Nodes mostly lead backwards, so a place is written as the distance back; in loops, ahead.
std::uint64_t way(std::size_t from, std::uint32_t to) {
  return to <= from ? (from - to) * 2 : (to - from) * 2 - 1;
}

std::uint32_t follow(ImageReader& in, std::size_t from, std::size_t count) {
  const std::uint64_t way = in.number();
  const std::uint64_t steps = way / 2 + way % 2;
  const bool good = way % 2 == 0 ? steps <= from : steps < count - from;
  if (!good) in.spoil();
  if (!in.good()) return 0;
  return static_cast<std::uint32_t>(way % 2 == 0 ? from - steps : from + steps);
}

}  // namespace

void Program::write(ImageWriter& out) const {
  classes_.write(out);
  std::map<std::uint64_t, std::uint64_t> numbers;
  std::vector<std::uint64_t> surroundings;
  for (const std::uint64_t viable : viable_) {
    if (numbers.try_emplace(viable, surroundings.size()).second) surroundings.push_back(viable);
  }
  out.number(surroundings.size());
  for (const std::uint64_t viable : surroundings) out.word(viable);
  out.number(nodes_.size());
  for (std::size_t place = 0; place < nodes_.size(); ++place) {
    const Node& node = nodes_[place];
    out.number(static_cast<unsigned>(node.kind));
    out.number(numbers.at(viable_[place]));
    if (node.kind == Node::Kind::Accept) continue;
    out.number(way(place, node.out));
    if (node.kind == Node::Kind::Characters) out.number(node.set);
    if (node.kind == Node::Kind::Split) out.number(way(place, node.other));
    if (node.kind == Node::Kind::Assert) out.number(static_cast<unsigned>(node.assertion));
  }
  out.number(starts_.size());
  for (const std::uint32_t start : starts_) out.number(start);
}

std::optional<Program> Program::read(ImageReader& in) {
  auto classes = CharClasses::read(in);
  if (!classes) return std::nullopt;
  Program program;
  program.classes_ = std::move(*classes);
  program.read_nodes(in);
  const std::size_t nodes = program.nodes_.size();
  const std::size_t entries = in.count();
  for (std::uint32_t entry = 0; entry < entries && in.good(); ++entry) {
    program.starts_.push_back(in.below(nodes));
  }
  if (!in.good() || !program.sound()) return std::nullopt;
  return program;
}

void Program::read_nodes(ImageReader& in) {
  std::vector<std::uint64_t> surroundings(in.count(8));
  for (std::uint64_t& viable : surroundings) viable = in.word();
  const std::size_t count = in.count(2);
  if (count > kMostNodes) in.spoil();
  if (!in.good()) return;
  nodes_.reserve(count);
  viable_.reserve(count);
  std::uint32_t entry = std::numeric_limits<std::uint32_t>::max();  // the first `Accept` makes it 0
  while (nodes_.size() < count && in.good()) {
    const auto kind = static_cast<Node::Kind>(in.below(kKinds));
    const std::uint32_t viable = in.below(surroundings.size());
    if (!in.good()) return;
    viable_.push_back(surroundings[viable]);
    if (kind == Node::Kind::Accept) {
      ++entry;
    } else if (nodes_.empty()) {
      in.spoil();
    }
    nodes_.push_back(read_node(in, kind, count));
    nodes_.back().entry = entry;
  }
}

Node Program::read_node(ImageReader& in, Node::Kind kind, std::size_t count) const {
  const std::size_t place = nodes_.size();
  Node node{.kind = kind};
  if (kind == Node::Kind::Accept) return node;
  node.out = follow(in, place, count);
  if (kind == Node::Kind::Characters) node.set = in.below(classes_.sets());
  if (kind == Node::Kind::Split) node.other = follow(in, place, count);
  if (kind == Node::Kind::Assert) node.assertion = static_cast<Assertion>(in.below(kAssertions));
  return node;
}

// Checks what trackers rely on: nodes lead only to nodes of their entry, and no match is empty.
bool Program::sound() const {
  // An entry begins with its `Accept`, so there are as many entries as were counted.
  if (starts_.size() != (nodes_.empty() ? 0 : nodes_.back().entry + 1)) return false;
  for (const Node& node : nodes_) {
    if (node.kind == Node::Kind::Accept) continue;
    if (nodes_[node.out].entry != node.entry) return false;
    if (node.kind == Node::Kind::Split && nodes_[node.other].entry != node.entry) return false;
  }
  std::vector<bool> seen(nodes_.size());
  for (std::uint32_t entry = 0; entry < starts_.size(); ++entry) {
    if (nodes_[starts_[entry]].entry != entry || !consumes_something(entry, seen)) return false;
  }
  return true;
}

bool Program::consumes_something(std::uint32_t entry, std::vector<bool>& seen) const {
  std::vector<std::uint32_t> pending{starts_[entry]};
  while (!pending.empty()) {
    const std::uint32_t place = pending.back();
    pending.pop_back();
    const Node& node = nodes_[place];
    if (node.kind == Node::Kind::Accept) return false;
    if (seen[place] || node.kind == Node::Kind::Characters) continue;
    seen[place] = true;
    pending.push_back(node.out);
    if (node.kind == Node::Kind::Split) pending.push_back(node.other);
  }
  return true;
}

}  // namespace sallyport::match
