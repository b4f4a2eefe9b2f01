#include "ledger/member/local_membership.h"

#include "base/try.h"

namespace sallyport::ledger {

LocalMembership::LocalMembership(std::filesystem::path data_folder, InstanceLock lock,
                                 CallClaims claims)
    : data_folder_(std::move(data_folder)), lock_(std::move(lock)), claims_(std::move(claims)) {}

Result<std::unique_ptr<Membership>> LocalMembership::join(const std::filesystem::path& data_folder,
                                                          const std::string& instance_id) {
  SALLYPORT_TRY(InstanceLock lock, InstanceLock::take(data_folder, instance_id));
  SALLYPORT_TRY(CallClaims claims, CallClaims::open(data_folder));
  return std::unique_ptr<Membership>(
      new LocalMembership(data_folder, std::move(lock), std::move(claims)));
}

bool LocalMembership::alive(const std::string& instance_id) const {
  return InstanceLock::alive(data_folder_, instance_id);
}

}  // namespace sallyport::ledger
