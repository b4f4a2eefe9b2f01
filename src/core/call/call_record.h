// The content of the intent and of the tool-audit entry of a call, before its end.
//
//   CallRecord record = CallRecord::from_entry(entry);   // of the intent
//   record.tier;                                         // Autonomy::ActAuto
//   record.announced.continuation_id;                    // of a call that was handed out
//
// `Journal` makes the record of a call that runs here from its trail. The record of a call that
// runs elsewhere, or lost its process, is read from the entry that opened it. `add_end` ends both.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/call/ending.h"
#include "core/call/idempotency.h"
#include "core/decision/decision_context.h"
#include "core/record/batch.h"
#include "core/record/draft.h"
#include "sallyport/audit_record.h"
#include "sallyport/call.h"
#include "sallyport/classification.h"
#include "sallyport/envelope.h"

namespace sallyport::core {

// A value.
struct CallRecord {
  // Members that only an intent has.
  struct Announced {
    std::string started_at{};       // RFC 3339
    std::string request_id{};       // of the approval that the call uses; empty: none
    std::string binding{};          // of that approval
    std::string row_key{};          // of its idempotency row; empty: it has none
    std::string continuation_id{};  // of its hand-off; empty: it runs here
  };

  SharedSubject subject{};
  std::string tool_call_id{};
  std::string display_name{};
  Tier tool_tier = Tier::Confirm;
  std::uint64_t turn = 0;
  std::string request_digest{};
  std::string call_digest{};
  std::string effect_class{};
  RecoveryClass recovery_class = RecoveryClass::SideEffecting;
  Autonomy tier = Autonomy::ActWithApproval;
  std::string tier_source{};
  std::string approval_id{};  // empty: no person was asked
  std::optional<std::uint64_t> matched_grant_index{};
  std::string trigger_id{};                   // of the event that started it; empty: none
  std::optional<DecisionContext> decision{};  // no value: an earlier release wrote the entry
  // Open values: both inputs, provenance, guards, rules, and members unknown to this release.
  struct OpenMember {
    std::string name;
    std::string text;  // JSON, as `CanonicalWriter` writes it
  };
  std::vector<OpenMember> content{};
  Announced announced{};

  // What the commit of the record needs beside its body.
  std::vector<ExactContent> exact{};
  json::array redactions{};
  std::vector<Fact> facts{};
  std::vector<std::shared_ptr<const FactChange>> changes{};
  std::vector<Draft> in_front{};  // entries that the record names

  // `entry` has its body opened. It is the intent of a call, its `requires_confirmation`, its end,
  // or the entry with which it joined the question about another call.
  static CallRecord from_entry(const json::object& entry);

  Draft intent() &&;
  // Null: the call has not ended.
  Draft audit(const Ending* ending = nullptr) &&;

  // Writes one open value and replaces an earlier value of that name.
  void set(std::string_view name, const json::value& value);
  json::object open_values() const;

  // Commits the idempotency row with the record, for a call with an intent.
  void follow_row(Idempotency::Status status);
};

// Commits the entry to the original and the released result. Its body already has the decision of
// the second door.
void commit_to_release(Draft& draft, const Release& release);
// Builds the subject from the ids that an entry names.
Subject subject_of(const json::object& entry);
Call call_of(const Subject& subject);
// Converts a result, as records and hosts have it, to an envelope.
Envelope envelope_of(const ToolResult& result);

// The positions of an ending in its batch.
struct EndPlaces {
  std::vector<Batch::Handle> events{};  // in the order of `Ending::events`
  Batch::Handle record{};
};
// Adds the end of a call. Every call ends in the log this way: its last events, the entries before
// its record, the record with its ending, the trust record.
EndPlaces add_end(CallRecord record, const Ending& ending, Batch& batch);

}  // namespace sallyport::core
