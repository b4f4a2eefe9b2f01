// Starts a program in a process group of its own, so that what it starts dies with it.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::net {

// A pipe that started programs do not inherit.
struct Pipe {
  int read_end = -1;
  int write_end = -1;
};
Result<Pipe> make_pipe();

// The account of a program that must not run under ours.
struct RunAs {
  std::string user;
  std::string home;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups{};
};

// The limit of a resource of a process, as setrlimit(2) names it.
struct ProcessLimit {
  int resource = 0;
  std::uint64_t most = 0;
};

// Restrictions that a program takes on before it runs. Neither it nor its children can lift them.
struct Cage {
  int ruleset = -1;                       // of Landlock; -1: none
  std::span<const sock_filter> filter{};  // of seccomp; empty: none
  std::uint64_t capabilities = ~0ull;     // that it may keep, one bit each
};

// A program that gets only what is named here. It is started by its path: no PATH is searched, and
// a file that the kernel cannot run is not given to a shell. It can gain no privileges, and has no
// terminal.
struct Confinement {
  std::vector<std::string> environment{};  // `NAME=value`, all of it
  std::vector<ProcessLimit> limits{};
  const Cage* cage = nullptr;  // null: none
};

struct SpawnSpec {
  const std::vector<std::string>&
      arguments;  // the first is the program; without `confinement`, PATH is searched
  std::filesystem::path folder{};  // empty: the current one
  int input = -1;                  // becomes standard input; none: nothing to read
  int output = -1;                 // becomes standard output
  int errors = -1;                 // becomes standard error
  // Another account: no capability is left then, none can be gained (no_new_privs), and the folder
  // is that account's home, or `/` if that cannot be entered. No value: the account of this
  // process.
  std::optional<RunAs> run_as{};
  const Confinement* confinement = nullptr;  // null: it runs as this process does
};

// `Unavailable` says why it cannot be started. The caller reaps it, and closes its own descriptors.
// It inherits no descriptors but the three. To run it under another account this process needs
// CAP_SETUID, CAP_SETGID and CAP_KILL.
// It is killed when the calling thread ends, so that a gate that is killed leaves no tools behind.
Result<pid_t> spawn(const SpawnSpec& spec);

}  // namespace sallyport::net
