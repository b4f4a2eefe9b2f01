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

// Other processes, the kernel itself, name spaces and mounts, files by handle; calls that hide
// other calls (io_uring); and what would leave the group that a command is killed by.
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

// Limits and priorities: of the caller itself they may be set, of another process they may not. A
// command that limits the file size of the runtime would keep its own end from being recorded.
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
  // The low half: the values that count here fit into it.
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) +
                                    static_cast<std::size_t>(index) * sizeof(std::uint64_t));
}

class FilterText {
 public:
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
  void mask(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits); }
  void allow() { add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }
  void refuse(int error) {
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
  }
  // The next `count` instructions count only where the value is (or is not) this one.
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

// Internet and netlink (which name look-ups use) or none. Sockets of this machine are never among
// them: through one, a command asks a program outside to act for it.
void add_sockets(FilterText& text, bool network) {
  constexpr std::uint32_t kInternet[] = {AF_INET, AF_INET6, AF_NETLINK};
  const auto families = static_cast<std::uint8_t>(network ? std::size(kInternet) : 0);
  text.if_is(SYS_socket, static_cast<std::uint8_t>(2 + 2 * families));
  text.load(argument(0));
  if (network) {
    for (const std::uint32_t family : kInternet) {
      text.if_is(family, 1);
      text.allow();
    }
  }
  text.refuse(EACCES);
}

}  // namespace

std::vector<sock_filter> syscall_filter(const FilteredCalls& allowed) {
  if (kNativeCalls == 0) return {};
  FilterText text;
  text.load(offsetof(seccomp_data, arch));
  text.if_is_not(kNativeCalls, 1);
  text.refuse(EPERM);
  text.load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  text.if_at_least(0x40000000, 1);  // the numbers of x32
  text.refuse(ENOSYS);
#endif
  for (const int number : kRefusedCalls) text.refuse_call(number);
#if defined(SYS_truncate)
  if (!allowed.truncate_path) text.refuse_call(SYS_truncate);
#endif
  for (const SelfOnly& call : kSelfOnly) {
    text.if_is(static_cast<std::uint32_t>(call.number), 4);
    text.load(argument(call.process));
    text.if_is(0, 1);
    text.allow();
    text.refuse(EPERM);
  }
  // Its flags are out of reach; libraries use `clone` where it is missing.
  text.refuse_call(SYS_clone3, ENOSYS);
  text.if_is(SYS_clone, 4);
  text.load(argument(0));
  text.if_has(kNewSpaces, 1);
  text.refuse(EPERM);
  text.allow();
  add_sockets(text, allowed.network);
  // A pair that carries datagrams could be turned to any address of this machine.
  text.if_is(SYS_socketpair, 7);
  text.load(argument(1));
  text.mask(0xf);
  text.if_is(SOCK_DGRAM, 1);
  text.refuse(EACCES);
  text.if_is(SOCK_RAW, 1);
  text.refuse(EACCES);
  text.allow();
  // Typing on the terminal of the process that started us.
  text.if_is(SYS_ioctl, 6);
  text.load(argument(1));
  text.if_is(TIOCSTI, 1);
  text.refuse(EPERM);
  text.if_is(TIOCLINUX, 1);
  text.refuse(EPERM);
  text.allow();
  text.allow();
  return text.take();
}

}  // namespace sallyport::agent
