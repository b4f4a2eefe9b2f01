// One generated history: calls given to one or two processes on one disk, what goes wrong on the
// way, and the processes that come after a crash.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/handoff/hand_offs.h"
#include "support/call_history_ledger.h"
#include "support/call_history_parts.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::test {

enum class Way { Held, Turn, HandedOff };

// One call as somebody gave it to a process; `trace_id` of a call is unique for that.
struct Presented {
  std::string session;
  std::string id;
  std::string tool;
  std::string input;  // canonical
  Way way = Way::Held;
  std::string instance;
  bool told = false;      // whoever gave it heard something
  bool waits = false;     // it was told that a person is asked, and nothing since
  bool survived = false;  // the process ended by itself, owing nothing
};

struct History {
  explicit History(std::uint64_t seed);

  Surroundings around() { return {dice, disk, clock, witness}; }
  void complain(const std::string& text) { witness.violations.push_back(text); }

  Dice dice;
  TestClock clock;
  SeededEntropy entropy;
  ModelDisk disk;
  Witness witness;
  ChangingPlan plans;
  bool relaxed = false;
  bool two_processes = false;
  unsigned deaths = 0;

  std::map<std::string, Presented> presented;  // by trace

  // What clients hold in their hands.
  struct Pause {
    Continuation continuation;
    std::string session;
    std::string approval_id;
  };
  std::map<std::string, Pause> paused;  // by continuation
  struct Handed {
    HandOff hand_off;
    std::string session;
  };
  std::vector<Handed> handed;
};

// Plays it to its end, however often a process dies on the way: at last all questions are answered,
// all hand-offs are submitted or over, and nothing is owed.
void play(History& history, Fault fault);

// Compares what a caller was given with what the disk has at that moment.
void check_answer(History& history, const Answer& answer);

// Everything that is wrong with a history that was played (call_history_checks.cc).
std::vector<std::string> violations_of(const History& history);

}  // namespace sallyport::test
