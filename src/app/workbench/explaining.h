// A call, made before or only thought of, with all that decides about it, put together from its
// record and from what a person names. Decided over a ledger that is only read.
#pragma once

#include <optional>
#include <string>

#include "app/context.h"
#include "app/workbench/explanation.h"
#include "ledger/store.h"

namespace sallyport::app {

// The record of a call that was made before.
struct Recorded {
  RecordedDecision decision{};
  json::object body{};
};

struct AskedCall {
  Call call{};
  std::optional<Recorded> then{};
};

// What a record says; `entry` has its body opened, which is `body`.
AskedCall asked_in(const json::object& entry, const json::object& body);

// The record that ended the call, else the last one about it.
Result<AskedCall> recorded_call(ledger::LedgerStore& store, const std::string& id);

struct NamedPolicy {
  std::string name{};  // how places name its text
  core::PolicyText text{};
};
// A shipped policy by its name, or a file.
Result<NamedPolicy> policy_named(const std::string& name);

// What it is judged under.
struct Circumstances {
  std::optional<NamedPolicy> policy{};  // none: that of the record, else the starter
  std::optional<std::string> grant{};   // the token that the call presents
  bool now = false;                     // a recorded call by the policy and the facts of now
  std::optional<WallTime> at{};         // the time of now
  bool with_changes = true;             // also all causes, and what would let the call run
};

// A recorded call is judged with the policy text, the front and the facts of then (WB-33).
// `workspace`: null where there is no ledger; then nothing is revoked, spent, promoted or pinned.
Result<Explained> explain(const Context& context, Workspace* workspace, AskedCall asked,
                          const Circumstances& under);

}  // namespace sallyport::app
