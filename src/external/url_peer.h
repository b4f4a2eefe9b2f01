// An address that is asked by POST: `https` with a verified certificate, or this machine (RU-69).
#pragma once

#include "external/launch.h"
#include "external/peer.h"
#include "net/url.h"

namespace sallyport::external {

// `InvalidInput`: it may not be reached.
Result<net::Url> peer_url(const std::string& text);

class UrlPeer final : public Peer {
 public:
  UrlPeer(std::shared_ptr<const Launch> launch, net::Url url)
      : launch_(std::move(launch)), url_(std::move(url)) {}
  Task<json::object> ask(PeerRequest question) const override;

 private:
  std::shared_ptr<const Launch> launch_;
  net::Url url_;
};

}  // namespace sallyport::external
