// One thing that an agent did, tried or was allowed from now on, in the form of OpenTrustGraph v0
// (TR-1). The ledger gives a record its place in the chain.
//
//   TrustRecord record{.record_id = id, .agent = "deploy-bot", .action = "fs.write",
//                      .outcome = Outcome::Denied, .trace_id = trace, .timestamp =
//                      whole_seconds(now)};
//   recorder.append({trust_draft(record)}, Urgency::Reports);
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "core/record/record_log.h"
#include "sallyport/classification.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::trust {

inline constexpr std::string_view kRecordSchema = "opentrustgraph/v0";
inline constexpr std::string_view kTopic = "trust_graph";

enum class Outcome { Success, Failure, Denied, Timeout };
std::string_view to_string(Outcome outcome);
std::optional<Outcome> outcome_from(std::string_view word);

struct TrustRecord {
  std::string record_id{};  // UUIDv7
  std::string agent{};
  std::string action{};
  std::optional<std::string> approver{};
  Outcome outcome = Outcome::Denied;
  std::string trace_id{};
  Autonomy autonomy_tier = Autonomy::ActWithApproval;
  std::string timestamp{};  // RFC 3339 in UTC, whole seconds
  std::optional<double> cost_usd{};
  json::object metadata{};
  // Given by the ledger.
  std::uint64_t chain_index = 0;
  std::optional<std::string> previous_hash{};
  std::string entry_hash{};

  bool is_control() const;
  // Shadow and suggest: nothing ran, so nothing is to be counted (TR-10).
  bool is_withheld() const;
};

// Checks that all known verifiers write the record in the same bytes (TR-3), and the words of TR-1.
Result<void> check_record(const TrustRecord& record);

// All members of TR-1; those of the chain are left to the ledger where there is no index yet.
json::object to_json(const TrustRecord& record);
// `InvalidInput` names the member.
Result<TrustRecord> trust_record_from_json(const json::value& value);

// The ledger entry (TR-8).
core::Draft trust_draft(const TrustRecord& record);

// RFC 3339 in UTC without a fraction.
std::string whole_seconds(WallTime time);

// The metadata of a governed call (TR-6): never arguments, results or free text.
struct GovernedCall {
  std::string enforcement{};  // shadow_noop, suggest_approval_request, approval_granted, auto, ...
  std::string builtin{};      // the tool
  std::string action_class{};
  std::string call_id{};
  std::string approval_request_id{};  // empty: there was none
};
json::object to_metadata(const GovernedCall& call);

// An approver, as TR-7 demands it of a success under approval.
struct ApprovalSignature {
  std::string reviewer{};
  std::string signed_at{};
  std::string signature{};  // of AP-16
};
json::object approval_metadata(std::uint64_t quorum,
                               const std::vector<ApprovalSignature>& signatures);

}  // namespace sallyport::trust
