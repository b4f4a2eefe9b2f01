// Knows which processes write this log and are alive, and which process owns a call. One for each
// ledger that is open for writing. Every method may be called from any thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::ledger {

// What a process says about itself when it joins.
struct Joining {
  std::string instance_id;
  // By file name. Not the keys themselves: folders with different keys have different ids here.
  std::map<std::string, std::string> key_ids{};
};

class Membership {
 public:
  virtual ~Membership() = default;

  virtual bool alive(const std::string& instance_id) const = 0;

  // Held until the claim is destroyed or this process ends. Null: another process has it.
  virtual Result<std::shared_ptr<void>> claim(std::string_view key) = 0;
  // False: the claim was lost with the connection that held it. Claim again.
  virtual bool holds(const std::shared_ptr<void>& claim) const { return claim != nullptr; }

  // True: an instance is alive by its entries in the store, not by a lock of the kernel. It is lost
  // when the log says so; from then on `Committer::check_not_lost` refuses its commits.
  virtual bool by_lease() const { return false; }

  // By lease only. An error says why no effect may begin: the lease is nearly over, this process was
  // declared lost, or its clock or the database is unfit.
  virtual Result<void> may_act() const { return {}; }

  // By lease only. This process was declared lost: from now on it is alive under another name.
  virtual Result<void> rejoin(const std::string&) { return {}; }

  struct Silent {
    std::string instance;
    std::string host;
  };
  // Instances without a sign of life for a whole lease, while this process was connected.
  virtual std::vector<Silent> silent() { return {}; }
  // Checks again now. False: the instance has given a sign of life.
  virtual Result<bool> is_still_silent(const Silent&) { return false; }
  // Removes the heartbeat of an instance that the log calls lost.
  virtual void forget(const Silent&) {}
};

}  // namespace sallyport::ledger
