// A command that is started once for each question: the question on its standard input, the answer
// on its standard output, exit code 0.
#pragma once

#include "external/launch.h"
#include "external/peer.h"

namespace sallyport::external {

class CommandPeer final : public Peer {
 public:
  explicit CommandPeer(std::shared_ptr<const Launch> launch) : launch_(std::move(launch)) {}
  Task<json::object> ask(PeerRequest question) const override;

 private:
  std::shared_ptr<const Launch> launch_;
};

}  // namespace sallyport::external
