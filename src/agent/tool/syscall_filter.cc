#include "agent/tool/syscall_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace sallyport::agent {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kNativeCalls = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kNativeCalls = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kNativeCalls = 0;
#endif

// Calls for other processes, the kernel, name spaces, mounts and files by handle; calls that hide
// other calls (io_uring); and calls that leave the process group of the command.
constexpr int kRefusedCalls[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    SYS_open_by_handle_at,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_fanotify_init,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_pidfd_getfd,
    SYS_vhangup,
    SYS_setsid,
    SYS_setpgid,
#if defined(__x86_64__)
    SYS_kexec_file_load,
    SYS_iopl,
    SYS_ioperm,
#endif
};

// Limits and priorities may be set for the caller itself, but not for another process. A command
// that limits the file size of the runtime would prevent the record of its own end.
struct SelfOnly {
  int number;
  int process;  // the argument that names the process; 0 is the caller
};
constexpr SelfOnly kSelfOnly[] = {
    {SYS_prlimit64, 0},      {SYS_setpriority, 1},   {SYS_ioprio_set, 1},
    {SYS_sched_setparam, 0}, {SYS_sched_setattr, 0}, {SYS_sched_setscheduler, 0},
};

constexpr std::uint32_t kNewSpaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

constexpr std::uint32_t argument(int index) {
  // The low half of the argument, which is enough for these values.
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) +
                                    static_cast<std::size_t>(index) * sizeof(std::uint64_t));
}

class FilterProgram {
 public:
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
  void mask(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits); }
  void allow() { add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }
  void refuse(int error) {
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
  }
  // The next `count` instructions apply only if the value is (or is not) this one.
  void if_is(std::uint32_t value, std::uint8_t count) { jump(BPF_JEQ, value, 0, count); }
  void if_is_not(std::uint32_t value, std::uint8_t count) { jump(BPF_JEQ, value, count, 0); }
  void if_at_least(std::uint32_t value, std::uint8_t count) { jump(BPF_JGE, value, 0, count); }
  void if_has(std::uint32_t bits, std::uint8_t count) { jump(BPF_JSET, bits, 0, count); }

  void refuse_call(int number, int error = EPERM) {
    if_is(static_cast<std::uint32_t>(number), 1);
    refuse(error);
  }
  std::vector<sock_filter> take() { return std::move(all_); }

 private:
  void add(int code, std::uint32_t value) {
    all_.push_back({static_cast<std::uint16_t>(code), 0, 0, value});
  }
  void jump(int test, std::uint32_t value, std::uint8_t when_true, std::uint8_t when_false) {
    all_.push_back(
        {static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), when_true, when_false, value});
  }
  std::vector<sock_filter> all_;
};

// Allows internet and netlink sockets (which name lookups use) or none. Unix sockets are never
// allowed: through one, a command could ask a program outside to act for it.
void add_sockets(FilterProgram& program, bool network) {
  constexpr std::uint32_t kInternet[] = {AF_INET, AF_INET6, AF_NETLINK};
  const auto families = static_cast<std::uint8_t>(network ? std::size(kInternet) : 0);
  program.if_is(SYS_socket, static_cast<std::uint8_t>(2 + 2 * families));
  program.load(argument(0));
  if (network) {
    for (const std::uint32_t family : kInternet) {
      program.if_is(family, 1);
      program.allow();
    }
  }
  program.refuse(EACCES);
}

}  // namespace

std::vector<sock_filter> syscall_filter(const FilteredCalls& allowed) {
  if (kNativeCalls == 0) return {};
  FilterProgram program;
  program.load(offsetof(seccomp_data, arch));
  program.if_is_not(kNativeCalls, 1);
  program.refuse(EPERM);
  program.load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  program.if_at_least(0x40000000, 1);  // the numbers of x32
  program.refuse(ENOSYS);
#endif
  for (const int number : kRefusedCalls) program.refuse_call(number);
#if defined(SYS_truncate)
  if (!allowed.truncate_path) program.refuse_call(SYS_truncate);
#endif
  for (const SelfOnly& call : kSelfOnly) {
    program.if_is(static_cast<std::uint32_t>(call.number), 4);
    program.load(argument(call.process));
    program.if_is(0, 1);
    program.allow();
    program.refuse(EPERM);
  }
  // A filter cannot read its flags. Libraries use `clone` if it is missing.
  program.refuse_call(SYS_clone3, ENOSYS);
  program.if_is(SYS_clone, 4);
  program.load(argument(0));
  program.if_has(kNewSpaces, 1);
  program.refuse(EPERM);
  program.allow();
  add_sockets(program, allowed.network);
  // A datagram pair could be reconnected to any address of this machine.
  program.if_is(SYS_socketpair, 7);
  program.load(argument(1));
  program.mask(0xf);
  program.if_is(SOCK_DGRAM, 1);
  program.refuse(EACCES);
  program.if_is(SOCK_RAW, 1);
  program.refuse(EACCES);
  program.allow();
  // This request types on the terminal of the process that started us.
  program.if_is(SYS_ioctl, 6);
  program.load(argument(1));
  program.if_is(TIOCSTI, 1);
  program.refuse(EPERM);
  program.if_is(TIOCLINUX, 1);
  program.refuse(EPERM);
  program.allow();

  program.allow();  // every other call
  return program.take();
}

}  // namespace sallyport::agent
