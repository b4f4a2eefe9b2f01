// The other end of an entry: a command that is run for each question, a command that keeps running,
// or an address.
//
//   SALLYPORT_TRY(auto peer, make_peer(entry, host));
//   SALLYPORT_CO_TRY(json::object answer, co_await peer->ask({request, deadline, workspaces}));
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/async.h"
#include "external/entry.h"
#include "external/host.h"

namespace sallyport::external {

struct PeerRequest {
  json::object request{};
  std::chrono::steady_clock::time_point deadline{};
  std::vector<std::string> workspaces{};  // of the call: no program is started from there
};

// `const` and callable from any thread.
class Peer {
 public:
  virtual ~Peer() = default;
  // Returns the one object of the answer. `Deadline`: none came in time. Every other error is a
  // failure too (RU-66). Messages contain no secret and no text of the other end.
  virtual Task<json::object> ask(PeerRequest question) const = 0;
};

// `InvalidInput`: the program may not be used (RU-68), or the address may not (RU-69).
// `workspaces`: of the policy.
Result<std::shared_ptr<const Peer>> make_peer(const Entry& entry, std::shared_ptr<Host> host,
                                              std::vector<std::string> workspaces);

// The checks that `make_peer` makes, for commands that start nothing.
Result<void> check_peer(const Entry& entry, const std::vector<std::string>& workspaces);

}  // namespace sallyport::external
