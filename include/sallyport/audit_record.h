// The tool-audit record of a call: what was requested, what ran, who decided and how it ended
// (AU-1).
//
//   Result<AuditRecord> record = audit_record_from_json(line);
//   if (!record) std::cerr << record.error().message;   // "`outcome.kind` is `lost`, ..."
//   record->tool_name;                        // "transfer"
//   to_string(record->outcome.kind);          // "completed"
//   if (record->has_additions() && record->effect_state == EffectState::Unknown) ask_a_person();
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/call.h"
#include "sallyport/classification.h"
#include "sallyport/json.h"
#include "sallyport/outcome.h"
#include "sallyport/result.h"

namespace sallyport {

// What a guard said, or why it said nothing.
enum class GuardVerdict {
  Allow,
  Deny,
  Rewrite,
  Ask,
  Escalate,
  Error,    // the guard failed
  Skipped,  // the guard was not asked; `why` says why
};
std::string_view to_string(GuardVerdict verdict);
std::optional<GuardVerdict> guard_verdict_from(std::string_view word);

// One decision of one guard before the call ran (AU-12).
struct GuardRun {
  std::string guard{};
  std::string stage{};  // `grant`, `tool_use`, `pre_hook`, `authorizer`, `autonomy`, `external`
  std::uint64_t pass = 1;
  GuardVerdict verdict = GuardVerdict::Skipped;
  std::optional<std::string> rule{};
  std::optional<std::string> why{};
  json::value evidence{};  // null: the guard gave none
  std::uint64_t duration_us = 0;

  bool operator==(const GuardRun&) const = default;
};

// A value that was removed before the record was stored (AU-83).
struct Redaction {
  std::string path{};  // JSON Pointer into the record
  std::string category{};
  // `hmac-sha256:<hex>`. Equal values have equal digests. Only a holder of the digest key can test
  // a guess.
  std::string digest{};
  std::string detector{};  // the detector that found it; empty: an earlier release wrote the record
  bool whole = false;      // the value was the whole string at `path`

  bool operator==(const Redaction&) const = default;
};

// How recovery treats a call whose outcome was lost (AU-79).
enum class RecoveryClass { ReplaySafe, SideEffecting, Resumable };
std::string_view to_string(RecoveryClass recovery_class);
std::optional<RecoveryClass> recovery_class_from(std::string_view word);

// A value. The body of one audit entry of the ledger.
struct AuditRecord {
  // The ten fields that every writer of such records shares.
  std::string tool_call_id{};
  std::string tool_name{};
  std::string display_name{};
  Tier tier = Tier::Confirm;
  json::value requested_input{};
  json::value effective_input{};
  std::uint64_t turn = 0;
  Provenance provenance{};
  Outcome outcome{};
  std::string recorded_at{};  // RFC 3339 in UTC, `Z` and microseconds

  // The additions of Sallyport. A record of another writer may lack all of them.
  std::string call_id{};  // empty: the record has no additions, and the fields below mean nothing
  std::string session_id{};
  std::string trace_id{};
  std::string agent_id{};
  std::string server{};
  std::uint64_t sequence = 0;
  bool terminal = false;
  std::string policy_hash{};
  std::string request_digest{};
  std::string call_digest{};
  std::string effect_class{};
  RecoveryClass recovery_class = RecoveryClass::SideEffecting;
  EffectState effect_state = EffectState::Unknown;
  Autonomy autonomy = Autonomy::ActWithApproval;
  std::string autonomy_source{};
  std::optional<std::string> approval_id{};
  std::optional<std::uint64_t> matched_grant_index{};
  std::vector<GuardRun> guards{};
  // The inputs of the decision. They are empty if an earlier release wrote the record.
  std::string decided_at{};                 // RFC 3339
  std::uint64_t as_of = 0;                  // size of the ledger when the facts were read
  std::string class_source{};               // source of the classification; `unknown`: none
  bool caution = false;                     // the tool's own definition gives reason for caution
  std::optional<std::string> definition{};  // `sha256:<hex>` of the tool's definition
  std::string front{};                      // `mcp`, `http`, `hook`, `library` or `agent`
  json::value post_invocation{};  // what result guards said; null: the tool gave no answer
  std::vector<Redaction> redactions{};

  bool has_additions() const { return !call_id.empty(); }

  bool operator==(const AuditRecord&) const = default;
};

json::object to_json(const GuardRun& run);
// All readers here: `InvalidInput` names the member that is missing, has a wrong type or an unknown
// word.
Result<GuardRun> guard_run_from_json(const json::value& value, std::string where = "guard");

json::object to_json(const Redaction& redaction);
Result<Redaction> redaction_from_json(const json::value& value, std::string where = "redaction");

// Writes all fields, or only the first ten if the record has no additions.
json::object to_json(const AuditRecord& record);

// Reads both shapes: the ten fields alone, or all fields. A record with one addition must have
// every addition that cannot be null. Unknown members are ignored. Times with an offset are
// converted to UTC.
Result<AuditRecord> audit_record_from_json(const json::value& value);

}  // namespace sallyport
