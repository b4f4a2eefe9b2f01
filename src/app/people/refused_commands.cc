#include "app/people/refused_commands.h"

#include <algorithm>
#include <boost/json.hpp>

#include "app/machine/accounts.h"
#include "ledger/write/committer.h"

namespace sallyport::app {

namespace {

constexpr double kBurst = 32;
constexpr double kEachSecond = 0.5;
constexpr std::size_t kMostUsers = 4096;
constexpr std::size_t kLongestCommand = 64;

// Arguments may hold anything, so clients do not send them and none are taken.
std::string plain_command(std::string what) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz -";
  const bool plain = !what.empty() && what.size() <= kLongestCommand &&
                     what.find_first_not_of(kAllowed) == std::string::npos;
  return plain ? std::move(what) : std::string("unknown");
}

}  // namespace

bool RefusedCommands::may_write(unsigned uid, std::uint64_t& untold) {
  const SteadyTime now = clock_.steady();
  if (tries_.size() >= kMostUsers && !tries_.contains(uid)) tries_.clear();
  auto [place, first] = tries_.try_emplace(uid, Tries{.left = kBurst, .filled = now});
  Tries& tries = place->second;
  const double passed = std::chrono::duration<double>(now - tries.filled).count();
  tries.left = std::min(kBurst, tries.left + passed * kEachSecond);
  tries.filled = now;
  if (tries.left < 1) {
    ++tries.untold;
    return false;
  }
  tries.left -= 1;
  untold = std::exchange(tries.untold, 0);
  return true;
}

Async<bool> RefusedCommands::record(net::Peer peer, std::string what) {
  std::uint64_t untold = 0;
  if (!may_write(peer.uid, untold)) co_return false;
  json::object body{{"who", "uid:" + name_of_user(peer.uid)},
                    {"uid", peer.uid},
                    {"pid", peer.pid},
                    {"what", plain_command(std::move(what))}};
  if (untold > 0) body["untold"] = untold;
  std::vector<core::Draft> drafts;
  drafts.push_back(ledger::control("refused_control", std::move(body)));
  const auto written = co_await records_.append(std::move(drafts), core::Urgency::Reports);
  co_return written.has_value();
}

}  // namespace sallyport::app
