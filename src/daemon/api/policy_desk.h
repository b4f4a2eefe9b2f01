// Writing policies over HTTP: drafts that are kept beside the ledger, and putting one in force by
// replacing the file of the policy (CO-61). Only as far as `console.policies` allows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/gate.h"
#include "workspace/config/console_config.h"

namespace sallyport::app {

// Drafts may be used from any thread that may block, the rest on the loop of the gate, which must
// outlive it.
class PolicyDesk {
 public:
  static constexpr std::size_t kLargestText = 1u << 20;
  static constexpr std::size_t kMostDrafts = 100;

  PolicyDesk(Gate& gate, PolicyWrites writes, std::filesystem::path drafts)
      : gate_(gate), writes_(writes), drafts_(std::move(drafts)) {}

  PolicyWrites writes() const { return writes_; }
  // `Unauthenticated`, `policies_read_only`: the configuration does not allow this.
  Result<void> allow(PolicyWrites needed) const;

  // A client's policy text, with the policy that it extends: a shipped one, or the file that the
  // policy in force extends. `InvalidInput`: it names another file; clients must not read our
  // files. From any thread.
  Result<core::PolicyText> text_from(const std::string& text) const;

  // Sorted.
  Result<std::vector<std::string>> drafts() const;
  // `NotFound`: there is no such draft. `InvalidInput`: the name is malformed.
  Result<std::string> draft(const std::string& name) const;
  // `Exhausted`: there are too many.
  Result<void> keep(const std::string& name, const std::string& text) const;

  struct Activation {
    std::string who{};
    std::string text{};
    std::string replaces{};  // the hash that the person saw in force
  };
  struct Activated {
    std::string hash_before{};
    std::string hash{};
    bool in_force = false;  // false: the gate refused it, or its file has changed again
  };
  // `Conflict`, `precondition_failed`: another policy is in force, or the file has changed.
  // `InvalidInput` with its place: the policy is invalid. Recorded before the file changes.
  Task<Activated> activate(Activation wanted);

 private:
  Result<std::filesystem::path> file_of(const std::string& name) const;
  Result<void> check_file(const std::filesystem::path& file, const std::string& hash) const;
  Task<void> note(const char* control, const Activation& wanted, const std::string& hash);

  Gate& gate_;
  PolicyWrites writes_;
  std::filesystem::path drafts_;
  bool activating_ = false;
};

}  // namespace sallyport::app
