#include "external/peer.h"

#include "base/try.h"
#include "external/command_peer.h"
#include "external/program_check.h"
#include "external/serve_peer.h"
#include "external/url_peer.h"

namespace sallyport::external {

Result<void> check_peer(const Entry& entry, const std::vector<std::string>& workspaces) {
  Result<void> good;
  if (entry.url.empty()) {
    good = check_program(entry.command, workspaces);
  } else if (const Result<net::Url> url = peer_url(entry.url); !url) {
    good = std::unexpected(url.error());
  }
  if (good) return {};
  return fail(ErrorCode::InvalidInput, good.error().message, entry.place);
}

Result<std::shared_ptr<const Peer>> make_peer(const Entry& entry, std::shared_ptr<Host> host,
                                              std::vector<std::string> workspaces) {
  SALLYPORT_CHECK_OK(check_peer(entry, workspaces));
  auto launch = std::make_shared<const Launch>(entry, std::move(host), std::move(workspaces));
  if (!entry.url.empty()) {
    SALLYPORT_TRY(net::Url url, peer_url(entry.url));
    return std::make_shared<const UrlPeer>(std::move(launch), std::move(url));
  }
  if (entry.serves) return std::make_shared<const ServePeer>(std::move(launch));
  return std::make_shared<const CommandPeer>(std::move(launch));
}

}  // namespace sallyport::external
