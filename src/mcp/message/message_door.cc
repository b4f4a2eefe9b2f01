#include "mcp/message/message_door.h"

#include <fmt/format.h>

#include <utility>

#include "core/record/plain_text.h"

namespace sallyport::mcp {

MessageDoor::MessageDoor(Parts parts, Settings settings)
    : parts_(parts),
      log_(std::move(settings.log)),
      messages_(parts_.recorder, parts_.escalations, parts_.redactor, settings.subject),
      bridge_(parts_.recorder, settings.subject.server),
      screen_(parts_.plans, parts_.recorder, parts_.recorder, parts_.clock, settings.limits.json(),
              [this](Screen::Seen seen) { note_seen(std::move(seen)); }) {}

bool MessageDoor::passes(Side from, const Message& notification) {
  if (is_known(from, notification)) return true;
  // A request without an id cannot be governed, but some servers run it anyway.
  const bool allowed = notification.method.starts_with("notifications/") &&
                       parts_.plans.current()->passes_method(notification.method);
  note(allowed ? MessageLog::Action::Passed : MessageLog::Action::Dropped, from,
       notification.method);
  return allowed;
}

bool MessageDoor::may_ask(Side from, const Message& request) {
  if (is_known(from, request)) return true;
  if (parts_.plans.current()->passes_method(request.method)) return true;
  note(MessageLog::Action::Refused, from, request.method);
  return false;
}

Task<Message> MessageDoor::release(std::string method, Message message, bool granted) {
  Result<Message> passed = co_await screen_.pass(std::move(method), std::move(message), granted);
  if (!passed) {
    passed.error().message = core::plain_text(parts_.redactor, std::move(passed.error().message));
  }
  co_return passed;
}

void MessageDoor::note_seen(Screen::Seen seen) {
  using Action = MessageLog::Action;
  const Action action = seen.withheld    ? Action::Withheld
                        : seen.unchanged ? Action::Noted
                                         : Action::Redacted;
  FoundInMessage found{std::move(seen.findings), std::move(seen.escalations)};
  if (messages_.note(action, Side::Server, seen.method, seen.evidence, std::move(found))) {
    parts_.tasks.start(messages_.write());
  }
}

void MessageDoor::note(MessageLog::Action action, Side from, std::string_view method,
                       const std::string& evidence) {
  if (messages_.note(action, from, method, evidence)) parts_.tasks.start(messages_.write());
}

void MessageDoor::note_trimmed(Side from, const Message& message, std::string_view method) {
  if (message.dropped == 0) return;
  if (!std::exchange(reported_trimmed_, true)) {
    log_(
        fmt::format("the {} sends messages with members that belong to no message; they "
                    "are left out, and the ledger counts them (topic `mcp`)",
                    to_string(from)));
  }
  note(MessageLog::Action::Trimmed, from, method);
}

void MessageDoor::note_degraded(std::string_view feature) {
  if (bridge_.note(feature)) parts_.tasks.start(bridge_.write());
}

}  // namespace sallyport::mcp
