// The members of a ledger on a disk of this machine, known by file locks. The kernel releases a
// lock when its process ends, however it ends.
#pragma once

#include "ledger/member/call_claims.h"
#include "ledger/member/instance_lock.h"
#include "ledger/member/membership.h"

namespace sallyport::ledger {

class LocalMembership final : public Membership {
 public:
  static Result<std::unique_ptr<Membership>> join(const std::filesystem::path& data_folder,
                                                  const std::string& instance_id);

  bool alive(const std::string& instance_id) const override;
  Result<std::shared_ptr<void>> claim(std::string_view key) override { return claims_.claim(key); }

 private:
  LocalMembership(std::filesystem::path data_folder, InstanceLock lock, CallClaims claims);

  std::filesystem::path data_folder_;
  InstanceLock lock_;
  CallClaims claims_;
};

}  // namespace sallyport::ledger
