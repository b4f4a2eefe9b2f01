#include "machine/accounts.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <array>

namespace sallyport::app {

namespace {

constexpr std::size_t kEntryBytes = 16384;
constexpr int kMostGroups = 1024;

}  // namespace

std::string name_of_user(unsigned uid) {
  std::array<char, kEntryBytes> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return std::to_string(uid);
  }
  return found->pw_name;
}

Result<net::RunAs> account_named(const std::string& name) {
  std::array<char, kEntryBytes> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return fail(ErrorCode::NotFound, fmt::format("there is no account `{}` on this machine", name));
  }
  net::RunAs account{
      .user = found->pw_name, .home = found->pw_dir, .uid = found->pw_uid, .gid = found->pw_gid};
  int count = kMostGroups;
  account.groups.resize(kMostGroups);
  if (getgrouplist(name.c_str(), account.gid, account.groups.data(), &count) < 0) {
    return fail(ErrorCode::Exhausted, fmt::format("the account `{}` has too many groups", name));
  }
  account.groups.resize(static_cast<std::size_t>(count));
  return account;
}

}  // namespace sallyport::app
