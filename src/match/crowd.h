// Moves all groups of a text at once. The effect of a character on a crowd is computed when a text
// first needs it. After that it is one lookup for every text, in place of one for each group.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "match/automaton.h"

namespace sallyport::match {

struct CrowdMove;

// Groups in the order of their starts.
struct alignas(16) Crowd {
  static constexpr std::size_t kMost = 8;

  Neighbour before = Neighbour::Edge;
  std::uint8_t count = 0;
  std::uint8_t first_held = kMost;  // the first group that holds text; `kMost`: none does
  // By class. 0: not made yet. Marked with 1: the address of a CrowdMove. Otherwise the address of
  // a Crowd with the same groups at the same places; nothing matched.
  std::unique_ptr<std::atomic<std::uintptr_t>[]> moves;
  std::array<const State*, kMost> states{};
};

// Groups keep their order, so no group moves to a later place.
struct alignas(16) CrowdMove {
  static constexpr std::uint8_t kNew = Crowd::kMost;
  struct Reported {
    std::uint8_t group;  // as it was before, or `kNew`
    Accepted accepted;
  };

  const Crowd* to = nullptr;
  std::array<std::uint8_t, Crowd::kMost> from{};  // for each group of `to`: which it was, or `kNew`
  std::vector<Reported> reported{};
};

// The crowds of one automaton, which must outlive it. All threads share it.
class Crowds {
 public:
  // `room`: bytes for crowds and their moves.
  Crowds(const Automaton& automaton, std::size_t room) : automaton_(automaton), room_(room) {}

  // Null: there are too many groups, or there is no room.
  const Crowd* of(std::vector<const State*> states, Neighbour before);
  // Computes and returns an entry of `moves`. 0: there is no room, or too many groups.
  std::uintptr_t make(const Crowd& from, std::uint32_t character_class);

 private:
  struct Content {
    std::vector<const State*> states;
    Neighbour before;

    bool operator==(const Content&) const = default;
  };
  struct HashContent {
    std::size_t operator()(const Content& content) const;
  };

  struct Draft;
  // False: the automaton has no room for the next state, or there are too many groups.
  bool add(Draft& draft, std::uint8_t group, const State* state,
           std::uint32_t character_class) const;
  const Crowd* intern(Content content) SALLYPORT_REQUIRES(making_);

  const Automaton& automaton_;
  std::size_t room_;
  std::atomic<bool> full_ = false;
  // Held while crowds are added. Readers use the atomic moves.
  Mutex making_;
  std::unordered_map<Content, std::unique_ptr<Crowd>, HashContent> crowds_
      SALLYPORT_GUARDED_BY(making_);
  std::vector<std::unique_ptr<const CrowdMove>> moves_ SALLYPORT_GUARDED_BY(making_);
  std::size_t bytes_ SALLYPORT_GUARDED_BY(making_) = 0;
};

}  // namespace sallyport::match
