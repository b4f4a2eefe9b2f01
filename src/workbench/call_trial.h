// One call with all that decides about it, decided by the function that decides real calls (WB-1).
// It can be changed and decided again (WB-28).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/decision/rehearsal.h"
#include "core/plan/call_rules.h"
#include "core/record/record_reader.h"
#include "effects/call_facts.h"
#include "effects/file_view.h"
#include "policy/policy.h"
#include "trust/standing.h"
#include "workbench/call_verdict.h"
#include "workbench/policy_shelf.h"

namespace sallyport::app {

// The disk as the record of a call has it: nothing is read from the machine.
class RecordedFiles final : public effects::FileView {
 public:
  // `details` of the rules of a record.
  explicit RecordedFiles(const json::object& details);

  std::optional<std::vector<std::string>> names(const std::string& folder,
                                                std::size_t most) const override;
  bool missing(const std::string& folder) const override;
  std::optional<std::string> resolve(const std::string& path) const override;

  // A folder was asked for that the record does not list.
  bool unknown() const { return unknown_; }
  // The record has a link, or lists a folder that no decision has asked for.
  bool has_more() const;

 private:
  json::object links_;
  json::object names_;
  std::vector<std::string> missing_;
  // Of one call, on one thread.
  mutable bool unknown_ = false;
  mutable std::set<std::string, std::less<>> asked_;
};

struct CallTrial {
  core::PolicyText policy{};
  std::string policy_name{};  // how places name its text
  Call call{};                // `setting.front` says what the front adds to the plan
  WallTime at{};
  core::RecordReader* records = nullptr;
  effects::Machine machine{};
  const effects::FileView* files = nullptr;  // null: the disk of this machine
  std::filesystem::path reviewers{};         // the file of registered people; empty: none
  // The server's description of the tool.
  bool known = true;
  bool caution = false;
  std::string definition{};
  core::UpstreamFacts upstream{};
  // Overrides the records.
  std::optional<trust::Standing> standing{};
  std::map<core::FactKey, std::optional<std::string>> facts{};
  // The result of the tool, if it is known: guards of results judge it if the call runs.
  std::optional<Envelope> result{};
  PolicyShelf* shelf = nullptr;  // null: the policy is read for this decision alone
};

// The verdict of the result guards about a result.
struct TrialRelease {
  json::value released{};
  std::string by{};  // the guard that withheld or changed it; empty: none did
};

struct TrialAnswer {
  core::Rehearsal seen{};
  std::shared_ptr<const ShelvedPolicy> shelved{};
  std::optional<TrialRelease> release{};  // no value: the result is not known, or nothing runs

  const policy::Policy& policy() const { return shelved->policy; }
  const PolicyTree& tree() const { return shelved->tree; }
};

// Runs nothing, writes nothing and asks no person.
Result<TrialAnswer> decide(const CallTrial& trial, core::RehearsalScope scope);

CallVerdict verdict_of(const core::Rehearsal& now);

}  // namespace sallyport::app
