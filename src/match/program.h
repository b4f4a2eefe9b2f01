// The patterns of a set as one nondeterministic automaton over characters.
//
// Nodes keep the order of preference of Perl: of the two ways out of a `Split`, `out` is preferred.
// The table `viable` says from which nodes, with which neighbours, a match is still possible. It
// makes the hold-back exact: a place such as the end of `a\bx` is known to be dead without waiting
// for another character.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "match/char_classes.h"
#include "match/expression.h"
#include "match/image.h"

namespace sallyport::match {

struct Node {
  enum class Kind : std::uint8_t { Characters, Split, Assert, Accept };

  Kind kind;
  Assertion assertion = Assertion::TextStart;
  std::uint32_t entry = 0;
  std::uint32_t set = 0;
  std::uint32_t out = 0;
  std::uint32_t other = 0;
};

enum class Answer : std::uint8_t {
  No,
  Yes,
  Later,    // only the next character decides
  IfFinal,  // the next character is a newline: yes if the text ends after it
};

// Decides from the neighbour before alone, if that is possible.
Answer decide(Assertion assertion, Neighbour before);
// Decides from both neighbours; never `Later`.
Answer decide(Assertion assertion, Neighbour before, Neighbour after);

class Program {
 public:
  static constexpr std::size_t kMostNodesOfAnEntry = 100'000;
  static constexpr std::size_t kMostNodes = 4'000'000;

  // False: it would be too large. Do not use the program afterwards.
  [[nodiscard]] bool add(const Tree& tree);
  // Call it once, after the last entry.
  [[nodiscard]] bool settle();

  // Call it after `settle`. A program that is read back can run, but cannot be extended.
  void write(ImageWriter& out) const;
  // No value: not an image of a program.
  static std::optional<Program> read(ImageReader& in);

  const std::vector<Node>& nodes() const { return nodes_; }
  const CharClasses& classes() const { return classes_; }
  std::uint32_t start_of(std::uint32_t entry) const { return starts_[entry]; }
  std::size_t entries() const { return starts_.size(); }

  // True if some continuation, including the end, leads to a match through this node.
  bool viable(std::uint32_t node, Neighbour before) const;
  // The same if the text must end here.
  bool viable_at_end(std::uint32_t node, Neighbour before) const;

 private:
  std::uint32_t emit(const Tree& tree, std::uint32_t next);
  std::uint32_t emit_repeat(const Tree& tree, std::uint32_t next);
  std::uint32_t emit_plus(const Tree& tree, std::uint32_t next);
  std::uint32_t emit_split(std::uint32_t taken, std::uint32_t skipped, bool greedy);
  std::uint32_t push(Node node);
  std::uint32_t intern(const CharSet& set);
  std::uint64_t viable_surroundings(const Node& node) const;
  void read_nodes(ImageReader& in);
  Node read_node(ImageReader& in, Node::Kind kind, std::size_t count) const;
  bool sound() const;
  bool consumes_something(std::uint32_t entry, std::vector<bool>& seen) const;

  std::vector<Node> nodes_;
  std::vector<std::uint64_t>
      viable_;  // a bit for each: before, after, and whether the text must end
  std::vector<std::uint32_t> starts_;
  std::vector<CharSet> sets_;
  std::vector<unsigned> neighbours_of_sets_;
  std::map<CharSet, std::uint32_t> known_sets_;
  CharClasses classes_;
  std::size_t limit_ = 0;
};

}  // namespace sallyport::match
