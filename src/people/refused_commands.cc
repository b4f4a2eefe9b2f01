#include "people/refused_commands.h"

#include <algorithm>
#include <boost/json.hpp>

#include "ledger/write/committer.h"
#include "machine/accounts.h"

namespace sallyport::app {

namespace {

constexpr double kBurst = 32;
constexpr double kEachSecond = 0.5;
constexpr std::size_t kMostUsers = 4096;
constexpr std::size_t kLongestCommand = 64;

// Arguments may hold anything, so clients do not send them and none are taken.
std::string plain_command(std::string command) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz -";
  const bool plain = !command.empty() && command.size() <= kLongestCommand &&
                     command.find_first_not_of(kAllowed) == std::string::npos;
  return plain ? std::move(command) : std::string("unknown");
}

}  // namespace

bool RefusedCommands::may_write(unsigned uid, std::uint64_t& unrecorded) {
  const SteadyTime now = clock_.steady();
  if (tries_.size() >= kMostUsers && !tries_.contains(uid)) tries_.clear();
  auto [place, first] = tries_.try_emplace(uid, Tries{.left = kBurst, .filled = now});
  Tries& tries = place->second;
  const double passed = std::chrono::duration<double>(now - tries.filled).count();
  tries.left = std::min(kBurst, tries.left + passed * kEachSecond);
  tries.filled = now;
  if (tries.left < 1) {
    ++tries.unrecorded;
    return false;
  }
  tries.left -= 1;
  unrecorded = std::exchange(tries.unrecorded, 0);
  return true;
}

Async<bool> RefusedCommands::record(net::Peer peer, std::string command) {
  std::uint64_t unrecorded = 0;
  if (!may_write(peer.uid, unrecorded)) co_return false;
  json::object body{{"who", "uid:" + name_of_user(peer.uid)},
                    {"uid", peer.uid},
                    {"pid", peer.pid},
                    {"what", plain_command(std::move(command))}};
  if (unrecorded > 0) body["untold"] = unrecorded;
  std::vector<core::Draft> drafts;
  drafts.push_back(ledger::control("refused_control", std::move(body)));
  const auto written = co_await records_.append(std::move(drafts), core::Urgency::Reports);
  co_return written.has_value();
}

}  // namespace sallyport::app
