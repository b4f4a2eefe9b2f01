// Deterministic states over a Program, made when a text first needs them. All threads share them.
//
// A state is the set of nodes that wait for the next character, after the text from one start to
// now. Two starts in the same state have the same future, so a tracker keeps only the earlier one.
// In `Order::Preferred` the nodes are in Perl's order of preference, and a match cuts off the less
// preferred ones. In `Order::Any` they are a set, and every match is reported.
#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "match/program.h"

namespace sallyport::match {

enum class Order : std::uint8_t { Any, Preferred };

// The role of an entry, as far as states track it.
struct EntryRole {
  bool holds = false;  // of a block or redact rule, and not an exception
  bool exception = false;
  std::uint32_t rule = 0;
};

// A match of `entry` that a character made certain. It ends with that character, before it, or one
// character earlier.
struct Accepted {
  enum class End : std::uint8_t { Now, Before, BeforeThat };

  std::uint32_t entry;
  End end;
};

class Crowds;
struct State;

struct alignas(16) Edge {
  const State* to;
  std::vector<Accepted> accepted;  // by this character; the later match of an entry counts
};

// A node that waits. `AtEnd`: a match only if the text ends here. `AcceptAtEnd`: a match that ended
// one character ago, if the text ends here.
struct Waiting {
  enum class Mode : std::uint8_t { Open, AtEnd, AcceptAtEnd };

  std::uint32_t node;
  Mode mode = Mode::Open;

  bool operator==(const Waiting&) const = default;
  auto operator<=>(const Waiting&) const = default;
};

struct alignas(16) State {
  Neighbour before = Neighbour::Edge;
  std::vector<Waiting> waiting;
  std::vector<std::uint32_t> entries;     // those with a node in `waiting`, sorted
  std::vector<std::uint32_t> exceptions;  // rules with an exception among them, sorted
  bool holds = false;
  // Each 0 (not made yet), or the address of a State or Edge with the bits of `Automaton::Mark`.
  std::unique_ptr<std::atomic<std::uintptr_t>[]> edges;
  mutable std::atomic<const std::vector<const State*>*> singles = nullptr;  // made when asked for
};

struct Move {
  const State* to = nullptr;  // null: no room, continue with a fresh automaton
  std::span<const Accepted> accepted = {};
};

class Automaton {
 public:
  // Program and roles must outlive it. `room`: bytes for states beside the initial ones; crowds
  // take at most a quarter of that in addition.
  Automaton(const Program& program, const std::vector<EntryRole>& roles,
            std::vector<std::uint32_t> entries, Order order, std::size_t room);

  ~Automaton();

  const Program& program() const { return program_; }
  Order order() const { return order_; }
  const std::vector<std::uint32_t>& entries() const { return chosen_; }
  const std::vector<EntryRole>& roles() const { return roles_; }

  // The state before the first character of a match. Never without room.
  const State* initial(Neighbour before) const { return initial_[static_cast<unsigned>(before)]; }

  // Marks in the address of an edge, readable without following it.
  enum Mark : std::uintptr_t { IsEdge = 1, Dead = 2, AllMarks = 3 };

  // Reads an edge without a call. 0 and anything marked `IsEdge` needs a `step`.
  static std::uintptr_t peek(const State* from, std::uint32_t character_class) {
    return from->edges[character_class].load(std::memory_order_acquire);
  }
  // `insist`: ignores the limit of memory. A caller that has just changed automata sets it, or it
  // would change forever.
  Move step(const State* from, std::uint32_t character_class, bool insist = false) const {
    const std::uintptr_t edge = peek(from, character_class);
    if (edge == 0) return make_step(from, character_class, insist);
    return move_of(edge);
  }
  Crowds& crowds() const { return *crowds_; }
  // The matches of a state when the text ends. The end counts as one more character.
  std::vector<Accepted> finish(const State* from) const;
  // Returns the state that is equal to a state of another automaton over the same program.
  const State* adopt(const State* foreign) const;
  // States with one node each that together have the same future as this one.
  const std::vector<const State*>& singles(const State* state) const {
    const auto* const made = state->singles.load(std::memory_order_acquire);
    return made != nullptr ? *made : make_singles(state);
  }

 private:
  struct Content {
    Neighbour before;
    std::vector<Waiting> waiting;

    bool operator==(const Content&) const = default;
  };
  struct HashContent {
    std::size_t operator()(const Content& content) const;
  };
  class Builder;

  static Move move_of(std::uintptr_t edge) {
    const std::uintptr_t address = edge & ~std::uintptr_t{AllMarks};
    if ((edge & IsEdge) == 0) return {reinterpret_cast<const State*>(address)};
    const auto* full = reinterpret_cast<const Edge*>(address);
    return {full->to, full->accepted};
  }
  Move make_step(const State* from, std::uint32_t character_class, bool insist) const;
  const std::vector<const State*>& make_singles(const State* state) const;
  bool full() const SALLYPORT_REQUIRES(making_) { return bytes_ > room_; }
  const State* intern(Content content) const SALLYPORT_REQUIRES(making_);

  const Program& program_;
  const std::vector<EntryRole>& roles_;
  std::vector<std::uint32_t> chosen_;
  Order order_;
  std::array<const State*, kNeighbours> initial_{};
  std::size_t room_ = 0;
  // Held while states are added. Readers use the atomic edges.
  mutable Mutex making_;
  mutable std::unordered_map<Content, std::unique_ptr<State>, HashContent> states_
      SALLYPORT_GUARDED_BY(making_);
  mutable std::vector<std::unique_ptr<Edge>> full_edges_ SALLYPORT_GUARDED_BY(making_);
  mutable std::vector<std::unique_ptr<const std::vector<const State*>>> singles_
      SALLYPORT_GUARDED_BY(making_);
  mutable std::size_t bytes_ SALLYPORT_GUARDED_BY(making_) = 0;
  mutable std::unique_ptr<Builder> builder_ SALLYPORT_GUARDED_BY(making_);
  std::unique_ptr<Crowds> crowds_;
};

}  // namespace sallyport::match
