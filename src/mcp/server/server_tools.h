// The listed tools of one server: read before the first call, pinned when they are first seen, and
// held back when they change.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/bell.h"
#include "mcp/call/call_server.h"
#include "mcp/message/message_door.h"
#include "mcp/server/pins.h"
#include "mcp/server/tool_definition.h"

namespace sallyport::mcp {

// Owned by a `ServerSession` and used on its strand.
class ServerTools {
 public:
  struct Parts {
    const Clock& clock;
    const core::Redactor& redactor;
    PinBook& pins;
    MessageDoor& door;
    CallServer& server;
  };
  struct Settings {
    std::string server;  // its name in records
    Limits limits{};
    Server::Log log;
  };
  ServerTools(Parts parts, Settings settings) : parts_(parts), settings_(std::move(settings)) {}

  // Null: no list so far has it.
  const ToolDefinition* find(const std::string& name) const;
  // True if a call may name this tool. The name of a method, of two tools or of none is refused.
  bool callable(const std::string& name) const;
  bool known() const { return known_; }  // the whole list was read since it last changed
  bool held(const std::string& name) const { return parts_.pins.held(settings_.server, name); }

  void forget();  // the list has changed, or another process of the server runs
  // Reads the list before the first call, and again when it may have changed or lacks the tool. A
  // tool whose definition was never seen cannot be pinned.
  Async<void> refresh(std::string wanted);
  // Returns the server's answer to `method` as a client may see it: without held-back tools and
  // instructions, and after the second door.
  Task<Message> shown(std::string method, Message answer);
  // True: a person has accepted the change of a tool since the last look.
  bool take_accepted();

 private:
  struct List {
    std::map<std::string, ToolDefinition> tools{};
    std::set<std::string> duplicates{};  // names of two tools
  };
  Task<void> list();
  // Adds a page to the list, and returns the names that a client must not see.
  Task<std::set<std::string>> see(const json::object& result, List& list);
  Async<bool> may_instruct(const json::object& opening);
  void note_duplicate(List& list, const std::string& name) const;
  void report_held(const HeldBack& held) const;

  Parts parts_;
  Settings settings_;
  Bell bell_;
  List list_;                        // stays in use until a new one is whole
  std::set<std::string> held_back_;  // until a person accepts the change
  bool known_ = false;
  bool listing_ = false;
  std::uint64_t changes_ = 0;  // counted; a change during a listing makes the listing outdated
  std::optional<std::uint64_t> unlisted_;  // `changes_` at the last failed listing
  SteadyTime listed_at_{};
};

}  // namespace sallyport::mcp
