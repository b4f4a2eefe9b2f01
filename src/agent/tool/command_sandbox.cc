#include "agent/tool/command_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "agent/tool/syscall_filter.h"
#include "base/try.h"

namespace sallyport::agent {

namespace {

// Headers of older systems know fewer of these.
constexpr std::uint64_t kRefer = 1ull << 13;
constexpr std::uint64_t kTruncate = 1ull << 14;
constexpr std::uint64_t kIoctl = 1ull << 15;
constexpr std::uint64_t kAllTcp = 3;     // to bind, to connect
constexpr std::uint64_t kAllScopes = 3;  // abstract sockets, signals

constexpr std::uint64_t kReading =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kWriting = kReading | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                   LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                   LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                   LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                   LANDLOCK_ACCESS_FS_MAKE_SYM | kRefer | kTruncate;
constexpr std::uint64_t kMakingDevices =
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;
constexpr std::uint64_t kOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                   LANDLOCK_ACCESS_FS_READ_FILE | kTruncate | kIoctl;

// The layout of the kernel since version 6. Older versions use a prefix of it.
struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t tcp = 0;
  std::uint64_t scopes = 0;
};
constexpr std::size_t attributes_size(int version) {
  return version >= 6 ? 24 : version >= 4 ? 16 : 8;
}

constexpr std::uint64_t known_files(int version) {
  std::uint64_t all = kWriting | kMakingDevices | kIoctl;
  if (version < 2) all &= ~kRefer;
  if (version < 3) all &= ~kTruncate;
  if (version < 5) all &= ~kIoctl;
  return all;
}

// The folders of programs and their libraries on Linux.
constexpr const char* kProgramFolders[] = {"/usr",   "/bin",    "/sbin", "/lib",      "/lib32",
                                           "/lib64", "/libx32", "/opt",  "/nix/store"};
constexpr const char* kPlainDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                         "/dev/urandom"};
// `/proc` shows of other processes only what any program may see: Landlock forbids the rest.
constexpr const char* kViews[] = {"/proc", "/sys/devices/system/cpu"};

// The capabilities that a command of root keeps: those for changing files.
constexpr std::uint64_t kKeptCapabilities =
    1ull << CAP_CHOWN | 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_FOWNER;

bool overlap(std::string_view a, std::string_view b) {
  const auto below = [](std::string_view path, std::string_view folder) {
    return folder == "/" || (path.starts_with(folder) &&
                             (path.size() == folder.size() || path[folder.size()] == '/'));
  };
  return below(a, b) || below(b, a);
}

class Ruleset {
 public:
  Ruleset(int version, bool network) : files_(known_files(version)) {
    const RulesetAttributes attributes{
        .files = files_, .tcp = network ? 0 : kAllTcp, .scopes = kAllScopes};
    handle_ = Descriptor(static_cast<int>(
        syscall(SYS_landlock_create_ruleset, &attributes, attributes_size(version), 0u)));
  }

  // A path that does not exist needs no rule.
  Result<void> allow(const std::string& path, std::uint64_t rights) {
    if (!handle_) return failure("a ruleset");
    const Descriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!place) return {};
    struct stat state{};
    if (fstat(place.get(), &state) != 0) return failure(path);
    landlock_path_beneath_attr rule{};
    rule.allowed_access = rights & files_ & (S_ISDIR(state.st_mode) ? ~kIoctl : kOfFiles);
    rule.parent_fd = place.get();
    if (syscall(SYS_landlock_add_rule, handle_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0u) != 0) {
      return failure(path);
    }
    return {};
  }

  Descriptor take() { return std::move(handle_); }

 private:
  static std::unexpected<Error> failure(const std::string& what) {
    return fail(ErrorCode::Unavailable,
                fmt::format("Landlock refuses {}: {}", what, std::strerror(errno)));
  }
  std::uint64_t files_;
  Descriptor handle_;
};

// The entries of `/etc` that every account may read. Passwords and keys are not among them.
std::vector<std::string> readable_in_etc() {
  std::vector<std::string> all;
  std::error_code code;
  for (std::filesystem::directory_iterator at("/etc", code), end; !code && at != end;
       at.increment(code)) {
    struct stat state{};
    if (stat(at->path().c_str(), &state) == 0 && (state.st_mode & S_IROTH) != 0) {
      all.push_back(at->path().string());
    }
  }
  return all;
}

Result<void> check_apart(const Roots& roots) {
  const std::string& data = roots.data_folder();
  const std::vector<std::string> paths = roots.paths();
  for (std::size_t i = 0; i < paths.size() && !data.empty(); ++i) {
    if (!overlap(paths[i], data)) continue;
    return fail(ErrorCode::InvalidInput,
                fmt::format("`agent.roots[{}].path`: `{:.200}` and the data folder of Sallyport "
                            "lie one in the other, so a command could reach the data; name other "
                            "folders, or set `agent.shell.sandbox` to `off`",
                            i, paths[i]),
                fmt::format("agent.roots[{}].path", i));
  }
  return {};
}

}  // namespace

KernelBounds KernelBounds::of_this_machine() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, std::size_t{0},
                               LANDLOCK_CREATE_RULESET_VERSION);
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  return {.landlock = static_cast<int>(std::max(version, 0l)),
          .seccomp = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0u, &action) == 0 &&
                     !syscall_filter({}).empty()};
}

Result<std::unique_ptr<const CommandSandbox>> CommandSandbox::make(const ShellSettings& settings,
                                                                   const Roots& roots,
                                                                   KernelBounds kernel) {
  std::unique_ptr<CommandSandbox> sandbox(new CommandSandbox());
  if (settings.sandbox == Sandbox::Off) {
    sandbox->text_ = "none: the configuration turns it off";
    return sandbox;
  }
  SALLYPORT_CHECK_OK(check_apart(roots));
  std::string missing;
  if (kernel.landlock < 1) missing = "this kernel has no Landlock";
  if (!kernel.seccomp) {
    missing += fmt::format("{}this kernel has no seccomp", missing.empty() ? "" : ", ");
  }
  if (settings.sandbox == Sandbox::Required && !missing.empty()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`agent.shell.sandbox` is `required`, and {}", missing),
                "agent.shell.sandbox");
  }
  if (kernel.landlock > 0) {
    SALLYPORT_CHECK_OK(sandbox->make_ruleset(roots, kernel.landlock, settings.network));
  }
  if (kernel.seccomp) {
    sandbox->filter_ =
        syscall_filter({.network = settings.network, .truncate_path = kernel.landlock >= 3});
  }
  sandbox->caged_ = kernel.landlock > 0 || kernel.seccomp;
  sandbox->cage_ = {.ruleset = sandbox->ruleset_ ? sandbox->ruleset_.get() : -1,
                    .filter = sandbox->filter_,
                    .capabilities = kKeptCapabilities};
  const char* const parts =
      kernel.landlock > 0 ? (kernel.seccomp ? "landlock+seccomp" : "landlock") : "seccomp";
  sandbox->text_ = !sandbox->caged_  ? "none: " + missing
                   : missing.empty() ? parts
                                     : fmt::format("{}: {}", parts, missing);
  return sandbox;
}

Result<void> CommandSandbox::make_ruleset(const Roots& roots, int version, bool network) {
  Ruleset ruleset(version, network);
  std::vector<std::string> read_only(std::begin(kProgramFolders), std::end(kProgramFolders));
  std::ranges::move(readable_in_etc(), std::back_inserter(read_only));
  read_only.insert(read_only.end(), std::begin(kViews), std::end(kViews));
  for (const std::string& path : read_only) {
    std::error_code code;
    const std::string real = std::filesystem::weakly_canonical(path, code).string();
    // A program folder that overlaps our data folder is not allowed.
    if (!roots.data_folder().empty() && overlap(real, roots.data_folder())) continue;
    SALLYPORT_CHECK_OK(ruleset.allow(path, kReading));
  }
  for (const char* device : kPlainDevices) {
    SALLYPORT_CHECK_OK(ruleset.allow(device, kOfFiles & ~LANDLOCK_ACCESS_FS_EXECUTE));
  }
  const std::vector<std::string> writable = roots.writable();
  for (const std::string& root : roots.paths()) {
    const bool writes = std::ranges::find(writable, root) != writable.end();
    SALLYPORT_CHECK_OK(ruleset.allow(root, writes ? kWriting : kReading));
  }
  ruleset_ = ruleset.take();
  return {};
}

}  // namespace sallyport::agent
