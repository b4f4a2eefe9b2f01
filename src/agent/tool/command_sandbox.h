// Confines the commands of an agent to its roots: Landlock for files, signals and TCP, a filter of
// system calls for the rest. Made once for a session. Every command enters it before it starts (`enter` in
// `net/spawn.cc`).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/run/settings.h"
#include "agent/tool/roots.h"
#include "base/descriptor.h"
#include "net/spawn.h"

namespace sallyport::agent {

// What the kernel offers.
struct KernelBounds {
  int landlock = 0;  // version of its interface; 0: none
  bool seccomp = false;

  static KernelBounds of_this_machine();
};

// Immutable. It may be used from any thread.
class CommandSandbox {
 public:
  // `InvalidInput` names the key: the sandbox is required and the kernel lacks a part of it, or a
  // root and the data folder overlap, so that no sandbox can separate them.
  static Result<std::unique_ptr<const CommandSandbox>> make(
      const ShellSettings& settings, const Roots& roots,
      KernelBounds kernel = KernelBounds::of_this_machine());

  // For records: `landlock+seccomp`, or what is missing and why.
  const std::string& text() const { return text_; }
  // Null: there is none.
  const net::Cage* cage() const { return caged_ ? &cage_ : nullptr; }

 private:
  CommandSandbox() = default;
  Result<void> make_ruleset(const Roots& roots, int version, bool network);

  Descriptor ruleset_;
  std::vector<sock_filter> filter_;
  net::Cage cage_;
  bool caged_ = false;
  std::string text_;
};

}  // namespace sallyport::agent
