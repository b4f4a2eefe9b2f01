#include "machine/network_fs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace sallyport::app {

namespace {

struct Known {
  long magic;
  const char* name;
};

constexpr long kFuse = 0x65735546;
constexpr auto kNetwork = std::to_array<Known>({
    {0x6969, "NFS"},        {0x517b, "SMB"},       {0xff534d42, "CIFS"},     {0xfe534d42, "SMB"},
    {0x01021997, "9p"},     {0x5346414f, "AFS"},   {0x6b414653, "AFS"},      {0x00c36400, "Ceph"},
    {0x0bd00bd0, "Lustre"}, {0x73757245, "Coda"},  {0x564c, "NCP"},          {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"}, {0x7461636f, "OCFS2"}, {0x01161970, "GFS2"},     {0x786f4256, "vboxsf"},
    {0x7c7c6650, "prl_fs"}, {0x013111a8, "IBRIX"}, {0x20030528, "OrangeFS"},
});

// FUSE does not say where the bytes go. These file systems keep them on this machine; any other one
// counts as a network file system until the user allows it.
constexpr auto kLocalFuse = std::to_array<std::string_view>({
    "fuse.bindfs",
    "fuse.encfs",
    "fuse.fuse-overlayfs",
    "fuse.gocryptfs",
    "fuse.mergerfs",
    "fuse.ntfs-3g",
    "fuse.securefs",
    "fuse.zfs-fuse",
    "fuseblk",
});

std::string mount_type(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {};
  const std::string device = fmt::format("{}:{}", major(status.st_dev), minor(status.st_dev));
  std::ifstream mounts("/proc/self/mountinfo");
  std::string line;
  while (std::getline(mounts, line)) {
    std::istringstream fields(line);
    std::string id, parent, number, word;
    fields >> id >> parent >> number;
    if (number != device) continue;
    while (fields >> word && word != "-") {
    }
    fields >> word;
    return word;
  }
  return {};
}

}  // namespace

std::string network_file_system_name(long magic, const std::string& type) {
  // On some machines the number is sign-extended.
  const long number = magic & 0xffffffff;
  const auto* const known = std::ranges::find(kNetwork, number, &Known::magic);
  if (known != kNetwork.end()) return known->name;
  if (number != kFuse) return {};
  if (std::ranges::find(kLocalFuse, std::string_view(type)) != kLocalFuse.end()) return {};
  return type.empty() ? "FUSE" : type;
}

Result<std::string> network_file_system(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::path existing = std::filesystem::absolute(path, code);
  while (!std::filesystem::exists(existing, code) && existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  struct statfs status{};
  if (::statfs(existing.c_str(), &status) != 0) {
    return fail(ErrorCode::Unavailable,
                std::string("cannot tell its file system: ") + std::strerror(errno), path.string());
  }
  const long magic = static_cast<long>(status.f_type);
  return network_file_system_name(magic, (magic & 0xffffffff) == kFuse ? mount_type(existing) : "");
}

}  // namespace sallyport::app
