// The door for messages that are not calls: decides which methods may pass, runs the result guards,
// and records what was done to the messages.
#pragma once

#include <string>
#include <string_view>

#include "core/approval/escalations.h"
#include "core/record/recorder.h"
#include "mcp/message/bridge_log.h"
#include "mcp/message/message_log.h"
#include "mcp/message/methods.h"
#include "mcp/message/screen.h"
#include "mcp/server/server.h"
#include "net/task_group.h"

namespace sallyport::mcp {

// Owned by a gateway and used on its strand.
class MessageDoor {
 public:
  struct Parts {
    const core::PlanSource& plans;
    core::Recorder& recorder;
    core::Escalations& escalations;
    const core::Redactor& redactor;
    const Clock& clock;
    net::TaskGroup& tasks;  // writes what was counted
  };
  struct Settings {
    Subject subject;  // of the entries: session, agent and server
    Limits limits{};
    Server::Log log;  // for operators
  };
  MessageDoor(Parts parts, Settings settings);

  // True if a notification may pass. One that the protocol does not have is dropped unless the
  // policy names its method.
  bool passes(Side from, const Message& notification);
  // True if a request may pass. One that the protocol does not have is refused unless the policy
  // names its method.
  bool may_ask(Side from, const Message& request);
  // The message as the guards of results release it (`Screen::pass`).
  Task<Message> release(std::string method, Message message, bool granted = false);

  // Counts a message that has no record.
  void note(MessageLog::Action action, Side from, std::string_view method,
            const std::string& evidence = {});
  // Counts a message with members that do not belong to its kind.
  void note_trimmed(Side from, const Message& message, std::string_view method);
  // Counts a feature that could not be passed on to the other side.
  void note_degraded(std::string_view feature);
  void hurry() { messages_.hurry(); }  // the session ends

 private:
  void note_seen(Screen::Seen seen);

  Parts parts_;
  Server::Log log_;
  MessageLog messages_;
  BridgeLog bridge_;
  Screen screen_;
  bool reported_trimmed_ = false;
};

}  // namespace sallyport::mcp
