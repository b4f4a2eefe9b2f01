// The surroundings of the Governor in a generated history: tools, guards, hooks and sinks that act
// differently for every call, but identically for the same seed.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/call/governor.h"
#include "support/call_history_ledger.h"
#include "support/test_clock.h"

namespace sallyport::test {

// Choices by name: they do not depend on the order in which they are made.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t pick(std::uint64_t sides, std::initializer_list<std::string_view> names) const;
  bool once_in(std::uint64_t sides, std::initializer_list<std::string_view> names) const {
    return pick(sides, names) == 0;
  }

 private:
  std::uint64_t seed_;
};

class SeededEntropy final : public Entropy {
 public:
  explicit SeededEntropy(std::uint64_t seed) : state_(seed) {}
  void fill(std::span<std::uint8_t> out) override;

 private:
  std::uint64_t state_;
};

// One started tool function.
struct Run {
  std::string call_id;
  std::string trace_id;
  std::string tool;
  std::string instance;
  std::string operation;  // of a prepared tool, with its revision
  std::uint64_t moment = 0;
  bool began = true;  // false: it found another revision and did nothing
  bool something_owed = false;
  bool relaxed = false;  // the plan writes the intent with the outcome
};

// The observations of a history outside the disk.
struct Witness {
  std::vector<Run> runs;
  std::map<std::string, std::uint64_t> stopped;     // by call: when a hook refused an announcement
  std::map<std::string, std::stop_source> callers;  // by trace
  std::vector<std::string> violations;              // seen during the run
  std::uint64_t operations = 0;
};

struct Surroundings {
  const Dice& dice;
  ModelDisk& disk;
  TestClock& clock;
  Witness& witness;
};

// A tool that a call names, and whether it may be repeated.
struct ToolKind {
  std::string name;
  Classification classification;
  bool prepares = false;
  bool outlives = false;
  bool known = true;
};
const std::vector<ToolKind>& tool_kinds();
const ToolKind& tool_kind(std::string_view name);

// All tools of one process.
std::shared_ptr<core::Upstream> make_tool(const ToolKind& kind, Surroundings around,
                                          const ModelLedger& ledger, bool relaxed);

// `variant`: another plan for the same history, as after a reload.
std::shared_ptr<const core::Plan> make_plan(const Surroundings& around, std::string_view variant);
core::HookRegistry make_hooks(const Surroundings& around);
std::vector<std::shared_ptr<const core::Sink>> make_sinks(const Surroundings& around);
// Returns null if people answer.
std::shared_ptr<const core::Approver> make_approver(const Surroundings& around);

}  // namespace sallyport::test
