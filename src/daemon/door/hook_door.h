// The socket at which a daemon answers hooks of coding agents. On a shared data folder it judges
// each event by the policy that the hook names, so its answer equals that of the hook alone. As the
// service of the system set-up it judges hooks of all users by its own policy.
#pragma once

#include <set>

#include "app/gate.h"
#include "app/hooks/hook_desk.h"
#include "daemon_client/hook_wire.h"
#include "net/frame_server.h"
#include "people/refused_commands.h"
#include "workspace/config/serve_config.h"

namespace sallyport::app {

class HookDoor {
 public:
  // Both must outlive it.
  HookDoor(Gate& gate, const ServeConfig& config);

  // If the socket cannot be opened, hooks decide alone; under the system set-up they are refused.
  Result<void> open();
  Async<void> run(std::chrono::milliseconds patience);
  void stop() { server_.stop(); }

 private:
  using Response = net::FrameServer::Response;
  Async<std::optional<Response>> answer(net::Peer peer, std::string frame);
  // Replaces the user in the message by the user that the kernel names.
  Async<void> set_asker(net::Peer peer, const std::string& policy, HookQuestion& question);

  Gate& gate_;
  const ServeConfig& config_;
  core::MeteredRecorder recorder_;
  RefusedCommands refused_;
  std::set<std::pair<unsigned, std::string>> other_policies_;  // requested in vain, and recorded
  HookDesk desk_;
  net::FrameServer server_;
  boost::asio::thread_pool aside_{2};  // joined first
};

}  // namespace sallyport::app
