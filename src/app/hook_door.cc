#include "app/hook_door.h"

#include "app/governed_process.h"
#include "app/hook_wire.h"
#include "base/try.h"

namespace sallyport::app {

HookDoor::HookDoor(Gate& gate)
    : gate_(gate),
      recorder_(gate.ledger(), gate.metrics(), gate.workspace().clock(), "hook"),
      desk_(gate.workspace(), recorder_, &aside_),
      server_(gate.loop().get_executor(),
              {.greeting = std::string(kHookGreeting), .question_bytes = kLargestHookQuestion},
              [&gate](std::string_view line) { gate.log(line); }) {}

Result<void> HookDoor::open() {
  return server_.listen(gate_.workspace().place().data_dir, kHookSocket);
}

Async<void> HookDoor::run(std::chrono::milliseconds patience) {
  co_await server_.run(
      [this](net::Peer peer, std::string frame) { return answer(peer, std::move(frame)); },
      patience);
}

Async<std::optional<std::string>> HookDoor::answer(net::Peer peer, std::string frame) {
  const Result<HookMessage> message = hook_message_in(frame);
  const hook::Dialect* const dialect = message ? hook::dialect_named(message->agent) : nullptr;
  if (dialect == nullptr) co_return std::nullopt;
  hook::Event event;
  if (!hook::read_event(*dialect, message->event, event)) co_return std::nullopt;
  HookQuestion question{.dialect = dialect,
                        .policy = message->policy,
                        .setting = {.interactive = message->interactive},
                        .event = std::move(event),
                        .host = host_of_hook(peer.pid)};
  co_return to_frame(co_await desk_.answer(std::move(question)));
}

}  // namespace sallyport::app
