// One generated history: calls to one or two processes on one disk, the faults on the way, and the
// processes that start after a crash.
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

// One call as a client made it; each call has its own `trace_id`.
struct Presented {
  std::string session;
  std::string id;
  std::string tool;
  std::string input;  // canonical
  Way way = Way::Held;
  std::string instance;
  bool told = false;      // the client got an answer
  bool waits = false;     // the last answer was that an approval is required
  bool survived = false;  // the process ended normally and owed nothing
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

  // The items that clients hold.
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

// Plays the history to its end, however often a process dies on the way. At the end all approval
// requests are answered, all hand-offs are submitted or over, and nothing is owed.
void play(History& history, Fault fault);

// Compares a caller's answer with the disk at that moment.
void check_answer(History& history, const Answer& answer);

// Returns all violations of a history that was played (call_history_checks.cc).
std::vector<std::string> violations_of(const History& history);

}  // namespace sallyport::test
