// Explains why a call would run or not, for the command line and the HTTP API, with the function
// that decides about real calls. Writes nothing. A recorded call is judged with the policy text,
// the front and the facts of its decision (WB-33).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/plan/policy_text.h"
#include "machine/environment.h"
#include "records/fact_history.h"
#include "workbench/asked_call.h"

namespace sallyport::app {

// A policy that was named: one that is shipped, a file, or `sha256:` and the hash of one whose
// text the ledger has kept.
struct NamedPolicy {
  std::string name{};
  core::PolicyText text{};
};
Result<NamedPolicy> policy_named(const std::string& name, ledger::LedgerStore* store);

// Shared by the explanations of many calls, so that each policy and each entry is read once. One
// thread; `store` must outlive it.
struct ExplainMemory {
  explicit ExplainMemory(ledger::LedgerStore& store) : history(store) {}
  FactHistory history;
  PolicyShelf shelf{};
  std::map<std::string, std::string> sources{};                    // by hash of a policy
  std::map<std::string, std::optional<core::KeptPolicy>> texts{};  // the same
};

// All must outlive the explanation.
struct ExplainScene {
  ledger::LedgerStore* store = nullptr;  // null: nothing is revoked, spent, promoted or pinned
  const Environment& environment;
  std::filesystem::path data_dir{};   // empty: there is none
  std::filesystem::path reviewers{};  // empty: no person is registered
  bool sees_disk = true;              // false: what depends on files of this machine is undecided
  ExplainMemory* memory = nullptr;    // null: one for this explanation alone
};

struct ExplainOptions {
  std::optional<NamedPolicy> policy{};  // no value: that of the recorded call, else the starter
  bool now = false;                     // a recorded call by the policy and the facts of now
  std::optional<std::string> at{};      // RFC 3339
  std::optional<std::string> grant{};   // a token
  bool with_changes = true;             // also all causes, and what would let the call run
  bool with_result = false;             // guards of results judge the recorded result again
};

Result<Explained> explain(const ExplainScene& scene, AskedCall asked,
                          const ExplainOptions& options);

}  // namespace sallyport::app
