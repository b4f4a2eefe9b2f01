// Makes the content of the next state, one at a time: it keeps marks for every node of the program.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "match/automaton.h"

namespace sallyport::match {

class Automaton::Builder {
 public:
  explicit Builder(const Automaton& automaton)
      : automaton_(automaton),
        program_(automaton.program()),
        seen_(program_.nodes().size()),
        seen_final_(program_.nodes().size()),
        entered_(program_.nodes().size()),
        cut_(program_.entries()) {}

  Content initial(Neighbour before);
  // The content after a character, and the matches that the character decided.
  Content after(const State& from, std::uint32_t character_class, std::vector<Accepted>& accepted);
  std::vector<Accepted> at_end(const State& from);

 private:
  void begin();
  // Follows all ways from `node` when both neighbours are known.
  void resolve(std::uint32_t node, bool final);
  void resolve_one(std::uint32_t node, bool final);
  void accept_before(std::uint32_t entry, bool final);
  // Adds the nodes that are reached by the character, up to those that need the next one.
  void enter(std::uint32_t node);
  void enter_at_end(std::uint32_t node);
  void read(const Waiting& item);
  bool cut(std::uint32_t entry) const { return cut_[entry] == turn_; }
  void find_foregone();
  bool accepts_now(std::uint32_t entry, Neighbour after) const;
  // Brings the content into a canonical form, so that equal contents compare equal.
  void settle();

  const Automaton& automaton_;
  const Program& program_;
  std::vector<std::uint64_t> seen_;
  std::vector<std::uint64_t> seen_final_;
  std::vector<std::uint64_t> entered_;
  std::vector<std::uint64_t> cut_;
  std::uint64_t turn_ = 0;
  std::vector<std::pair<std::uint32_t, bool>> pending_;
  std::vector<std::uint32_t> entering_;

  Neighbour before_ = Neighbour::Edge;  // the character before the one being read
  Neighbour after_ = Neighbour::Edge;   // the one being read, or the end
  std::uint32_t class_ = 0;
  std::vector<Accepted>* accepted_ = nullptr;
  Content content_{};
  std::vector<std::uint32_t> now_;  // entries with a match up to the character being read
};

}  // namespace sallyport::match
