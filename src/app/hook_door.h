// Where hooks of coding agents come to a daemon. It judges each of them by the policy that the hook
// names, so its answer is the one that the hook would have found alone.
#pragma once

#include "app/gate.h"
#include "app/hook_desk.h"
#include "net/frame_server.h"

namespace sallyport::app {

class HookDoor {
 public:
  // `gate` must outlive it.
  explicit HookDoor(Gate& gate);

  // Where that cannot be, hooks decide alone.
  Result<void> open();
  Async<void> run(std::chrono::milliseconds patience);
  void stop() { server_.stop(); }

 private:
  Async<std::optional<std::string>> answer(net::Peer peer, std::string frame);

  Gate& gate_;
  core::MeteredRecorder recorder_;
  HookDesk desk_;
  net::FrameServer server_;
  boost::asio::thread_pool aside_{2};  // joined first
};

}  // namespace sallyport::app
