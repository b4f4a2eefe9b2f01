// Deterministic states over a Program, made when a text first needs them and kept for all threads.
//
// A state is what may still become of the text between one start and now: the nodes that wait for
// the next character. Two starts in the same state have the same future, which is why a tracker
// needs only the earlier one. In `Order::Preferred` the nodes stand in Perl's order of preference
// and a match cuts off what is less preferred; in `Order::Any` they are a set, and every match is
// told.
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

// What an entry is for, as far as states keep track of it.
struct EntryRole {
  bool holds = false;  // of a block or redact rule, and not an exception
  bool exception = false;
  std::uint32_t rule = 0;
};

// A match of `entry` that a character made certain. It ends with that character, before it, or one
// character earlier still.
struct Accepted {
  enum class End : std::uint8_t { Now, Before, BeforeThat };

  std::uint32_t entry;
  End end;
};

class Crowds;
struct State;

struct alignas(16) Edge {
  const State* to;
  std::vector<Accepted> accepted;  // by the character on this edge; the later of an entry counts
};

// A node that waits. `AtEnd`: it is a match only if the text ends here. `AcceptAtEnd`: a match that
// ended one character ago, if the text ends here.
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

  // What an address of an edge says without being followed.
  enum Mark : std::uintptr_t { IsEdge = 1, Dead = 2, AllMarks = 3 };

  // The quick look: 0 and anything marked `IsEdge` wants a `step`.
  static std::uintptr_t peek(const State* from, std::uint32_t character_class) {
    return from->edges[character_class].load(std::memory_order_acquire);
  }
  // `insist`: there is room. For a caller that has just changed automata, or it would change for
  // ever.
  Move step(const State* from, std::uint32_t character_class, bool insist = false) const {
    const std::uintptr_t edge = peek(from, character_class);
    if (edge == 0) return make_step(from, character_class, insist);
    return told(edge);
  }
  Crowds& crowds() const { return *crowds_; }
  // What a state accepts when the text ends, which counts as one more character.
  std::vector<Accepted> finish(const State* from) const;
  // The state with the same future as one of another automaton over the same program.
  const State* adopt(const State* foreign) const;
  // States with one node each, which together have the same future as this one.
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

  static Move told(std::uintptr_t edge) {
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
  // Of the one that adds states; readers go through the atomic edges.
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
