#include "daemon/door/hook_door.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "machine/accounts.h"
#include "people/agent_ancestry.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostOtherPolicies = 1024;

net::FrameServer::Settings hook_settings(const ServeConfig& config) {
  net::FrameServer::Settings settings{.greeting = std::string(kHookGreeting),
                                      .question_bytes = kLargestHookQuestion};
  if (!config.is_system_service()) return settings;
  settings.reach = net::Reach::Public;
  settings.connections = 64;
  settings.connections_each = 16;
  return settings;
}

// A process of another user would be marked as an agent's, and what runs below it could approve
// nothing any more.
bool belongs_to(int pid, unsigned uid) {
  struct stat status{};
  return ::stat(fmt::format("/proc/{}", pid).c_str(), &status) == 0 && status.st_uid == uid;
}

}  // namespace

HookDoor::HookDoor(Gate& gate, const ServeConfig& config)
    : gate_(gate),
      config_(config),
      recorder_(gate.ledger(), gate.metrics(), gate.workspace().clock(), "hook"),
      refused_(recorder_, gate.workspace().clock()),
      desk_(gate.workspace(), recorder_, &aside_),
      server_(gate.loop().get_executor(), hook_settings(config),
              [&gate](std::string_view line) { gate.log(line); }) {}

Result<void> HookDoor::open() {
  return server_.listen(config_.socket_dir.value_or(gate_.workspace().place().data_dir),
                        kHookSocket);
}

Async<void> HookDoor::run(std::chrono::milliseconds patience) {
  co_await server_.run(
      [this](net::Peer peer, std::string frame) { return answer(peer, std::move(frame)); },
      patience);
}

Async<std::optional<HookDoor::Response>> HookDoor::answer(net::Peer peer, std::string frame) {
  const bool system = config_.is_system_service();
  if (std::optional<RefusedCommand> refused = refused_command_in(frame); system && refused) {
    const bool recorded = co_await refused_.record(peer, std::move(refused->command));
    if (!recorded) co_return std::nullopt;
    co_return Response{to_frame(HookAnswer{})};
  }
  const Result<HookMessage> message = hook_message_in(frame);
  const hook::Dialect* const dialect = message ? hook::dialect_named(message->agent) : nullptr;
  if (dialect == nullptr || (message->policy.empty() && !system)) co_return std::nullopt;
  hook::Event event;
  if (!hook::read_event(*dialect, message->event, event)) co_return std::nullopt;
  HookQuestion question{
      .dialect = dialect,
      .policy = message->policy,
      .setting = {.interactive = message->interactive, .workspace = message->workspace},
      .event = std::move(event),
      .host = host_of_hook(peer.pid)};
  if (system) co_await set_asker(peer, message->policy, question);
  co_return Response{to_frame(co_await desk_.answer(std::move(question)))};
}

// Sessions of two users never meet: neither can bring results for calls of the other, nor end them.
Async<void> HookDoor::set_asker(net::Peer peer, const std::string& policy, HookQuestion& question) {
  question.policy = config_.policy;
  question.asker = HookAsker{name_of_user(peer.uid), peer.uid, peer.pid};
  if (question.host && !belongs_to(*question.host, peer.uid)) question.host.reset();
  const std::string before = question.asker->user + '/';
  question.event.session_id.insert(0, before);
  for (hook::Event& event : question.event.calls) event.session_id.insert(0, before);
  if (policy.empty() || policy == config_.policy) co_return;
  if (other_policies_.size() >= kMostOtherPolicies) other_policies_.clear();
  if (other_policies_.emplace(peer.uid, policy).second) {
    (void)co_await refused_.record(peer, "hook --policy");
  }
}

}  // namespace sallyport::app
