// A command that keeps running and answers one line for each line; `id` pairs them (RU-70).
#pragma once

#include "external/launch.h"
#include "external/peer.h"

namespace sallyport::external {

class ServePeer final : public Peer {
 public:
  explicit ServePeer(std::shared_ptr<const Launch> launch);
  ~ServePeer() override;
  Task<json::object> ask(PeerRequest question) const override;

 private:
  class State;
  std::shared_ptr<State> state_;  // shared with abandoned questions
};

}  // namespace sallyport::external
