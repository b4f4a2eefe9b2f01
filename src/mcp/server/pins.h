// Pins of tool definitions as they were first seen. A tool whose definition has changed is held
// back until a person accepts the new one.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/guarded.h"
#include "core/plan/guard.h"
#include "core/record/record_log.h"
#include "mcp/server/tool_definition.h"

namespace sallyport::mcp {

struct Pin {
  std::string server;
  std::string tool;
  // `2:` and the digest of the whole definition; of a pin that an earlier release wrote, the digest
  // of the members that it looked at.
  std::string hash;
  std::uint64_t sequence = 0;  // of the entry that has the definition
  // Of the definition that waits to be accepted; empty: there is none.
  std::string changed_hash{};
  std::uint64_t changed_sequence = 0;

  bool held() const { return !changed_hash.empty(); }
};

Result<std::vector<Pin>> all_pins(core::RecordReader& records);
Result<std::optional<Pin>> find_pin(core::RecordReader& records, const std::string& server,
                                    const std::string& tool);
// The facts of a tool that is held back because its definition has changed: for cases of
// `policy test`, which have no ledger.
std::vector<core::Fact> held_facts(const std::string& server, const std::string& tool);
// A command about a tool that people can paste into a shell. The server chooses the tool's name, so
// it is quoted.
std::string pins_command(std::string_view verb, const std::string& server, const std::string& tool);
// The text for operators that says why nothing new of the server is pinned.
std::string no_room_for(const std::string& server, std::size_t most);
// The definition as the log has it.
Result<json::value> pinned_definition(core::RecordReader& records, std::uint64_t sequence);

// The waiting definition becomes the pinned one. `NotFound`: none waits. `Conflict`: it changed
// once more meanwhile.
Task<void> accept_pin(core::RecordLog& records, Pin pin, std::string person);

// The names that a list of tools must not have.
struct HeldBack {
  std::set<std::string> changed;
  std::set<std::string> beyond;  // new ones of a server without room for more pins
};

// Owned by a gate. `look` is called on the strand of a gateway, the rest from any thread.
class PinBook {
 public:
  // Twice the longest list: a server may replace all of its tools, but one that renames them
  // without end does not fill the ledger.
  static constexpr std::size_t kMostOfServer = 20'000;
  explicit PinBook(core::RecordLog& records, std::size_t most_of_server = kMostOfServer)
      : records_(records), most_of_server_(most_of_server) {}

  // Pins new tools while there is room, and records changed ones. A pin of an earlier release that
  // still matches is written once more, over the whole definition. `Unavailable`: other processes
  // look at the same tools again and again.
  Task<HeldBack> look(std::string server, std::vector<ToolDefinition> tools);

  // Loads what earlier looks found changed, for a process that only decides.
  Result<void> recall();

  // Reads the current state: another process may have accepted the tool.
  bool held(const std::string& server, const std::string& tool) const;
  // True if the tool is not pinned because its server has no room for more pins.
  bool beyond(const std::string& server, const std::string& tool) const;
  std::size_t most_of_server() const { return most_of_server_; }

 private:
  // What a list of tools is held back for and adds to the log, and the facts on which that rests.
  struct Comparison {
    HeldBack held{};
    std::vector<core::Draft> drafts{};
    std::vector<core::Fact> expected{};
  };
  Result<Comparison> compare(const std::string& server, const std::vector<ToolDefinition>& tools);
  Result<std::size_t> room(const std::string& server);

  core::RecordLog& records_;
  std::size_t most_of_server_;
  Guarded<std::set<std::pair<std::string, std::string>>> held_;
  // Servers without room; pins are never removed, so they stay full. Those of `noted_full_` have an
  // entry that says so.
  Guarded<std::set<std::string>> full_;
  Guarded<std::set<std::string>> noted_full_;
};

// Denies calls of tools that are held back. `book` must outlive the guard.
class PinGuard final : public core::Guard {
 public:
  explicit PinGuard(const PinBook& book);
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext& context) const override;

 private:
  const PinBook& book_;
  core::GuardTraits traits_;
};

}  // namespace sallyport::mcp
