// Where hooks of coding agents come to a daemon. Beside them on one data folder it judges each of
// them by the policy that the hook names, so its answer is the one that the hook would have found
// alone. As the service of the system set-up it judges hooks of all users by its own policy.
#pragma once

#include <set>

#include "app/config/serve_config.h"
#include "app/gate.h"
#include "app/hooks/hook_desk.h"
#include "app/hooks/hook_wire.h"
#include "app/people/refused_commands.h"
#include "net/frame_server.h"

namespace sallyport::app {

class HookDoor {
 public:
  // Both must outlive it.
  HookDoor(Gate& gate, const ServeConfig& config);

  // Where that cannot be, hooks decide alone, or are refused under the system set-up.
  Result<void> open();
  Async<void> run(std::chrono::milliseconds patience);
  void stop() { server_.stop(); }

 private:
  using Response = net::FrameServer::Response;
  Async<std::optional<Response>> answer(net::Peer peer, std::string frame);
  // Puts in what the kernel says about the user in the place of what the message says.
  Async<void> put_asker(net::Peer peer, const std::string& policy, HookQuestion& question);

  Gate& gate_;
  const ServeConfig& config_;
  core::MeteredRecorder recorder_;
  RefusedCommands refused_;
  std::set<std::pair<unsigned, std::string>> other_policies_;  // that were asked for and told of
  HookDesk desk_;
  net::FrameServer server_;
  boost::asio::thread_pool aside_{2};  // joined first
};

}  // namespace sallyport::app
