#include "mcp/message/message_door.h"

#include <fmt/format.h>

namespace sallyport::mcp {

MessageDoor::MessageDoor(Parts parts, Settings settings)
    : parts_(parts),
      log_(std::move(settings.log)),
      messages_(parts_.recorder, parts_.redactor, settings.subject),
      bridge_(parts_.recorder, settings.subject.server),
      screen_(parts_.plans, parts_.recorder, parts_.recorder, parts_.clock, settings.limits.json(),
              [this](const Screen::Seen& seen) {
                note(seen.withheld ? MessageLog::What::Withheld : MessageLog::What::Redacted,
                     Side::Server, seen.method, seen.evidence);
              }) {}

bool MessageDoor::passes(Side from, const Message& notification) {
  if (is_known(from, notification)) return true;
  // A request without an id is none that could be governed, and some servers run it all the same.
  const bool allowed = notification.method.starts_with("notifications/") &&
                       parts_.plans.current()->passes_method(notification.method);
  note(allowed ? MessageLog::What::Passed : MessageLog::What::Dropped, from, notification.method);
  return allowed;
}

bool MessageDoor::may_ask(Side from, const Message& request) {
  if (is_known(from, request)) return true;
  if (parts_.plans.current()->passes_method(request.method)) return true;
  note(MessageLog::What::Refused, from, request.method);
  return false;
}

Task<Message> MessageDoor::release(std::string what, Message message) {
  return screen_.pass(std::move(what), std::move(message));
}

void MessageDoor::note(MessageLog::What what, Side from, std::string_view method,
                       const std::string& evidence) {
  if (messages_.note(what, from, method, evidence)) parts_.tasks.start(messages_.write());
}

void MessageDoor::note_trimmed(Side from, const Message& message, std::string_view method) {
  if (message.dropped == 0) return;
  if (!std::exchange(told_of_trimmed_, true)) {
    log_(
        fmt::format("the {} sends messages with members that belong to no message; they "
                    "are left out, and the ledger counts them (topic `mcp`)",
                    to_string(from)));
  }
  note(MessageLog::What::Trimmed, from, method);
}

void MessageDoor::note_degraded(std::string_view feature) {
  if (bridge_.note(feature)) parts_.tasks.start(bridge_.write());
}

}  // namespace sallyport::mcp
