// The door for messages that are no calls: which methods may pass, the guards of results, and the
// record of what was done to them.
#pragma once

#include <string>
#include <string_view>

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

  // May a notification pass? One that the protocol does not have is dropped unless the policy names
  // its method.
  bool passes(Side from, const Message& notification);
  // May a side ask this? What the protocol does not have is refused unless the policy names it.
  bool may_ask(Side from, const Message& request);
  // The message as the guards of results release it (`Screen::pass`).
  Task<Message> release(std::string what, Message message);

  // Counts what has no record of its own.
  void note(MessageLog::What what, Side from, std::string_view method,
            const std::string& evidence = {});
  // Counts a message that had members which belong to no message.
  void note_trimmed(Side from, const Message& message, std::string_view method);
  // Counts a feature of one side that the other could not be given.
  void note_degraded(std::string_view feature);
  void hurry() { messages_.hurry(); }  // the session ends

 private:
  Parts parts_;
  Server::Log log_;
  MessageLog messages_;
  BridgeLog bridge_;
  Screen screen_;
  bool told_of_trimmed_ = false;
};

}  // namespace sallyport::mcp
