#include "trust/trust_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/object_reader.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/plan/autonomy_rules.h"
#include "core/record/shape_fields.h"

namespace sallyport::trust {

namespace {

constexpr std::array<std::string_view, 4> kOutcomes = {"success", "failure", "denied", "timeout"};

std::unexpected<Error> wrong(std::string_view member, std::string_view what) {
  return fail(ErrorCode::InvalidInput, fmt::format("`{}` {}", member, what), std::string(member));
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Only ASCII names and whole numbers: everything else has more than one written form.
Result<void> check_metadata(const json::value& value, std::string_view place) {
  if (value.is_double()) return wrong(place, "holds a number that is not whole");
  if (const json::array* const array = value.if_array()) {
    for (const json::value& item : *array) SALLYPORT_CHECK_OK(check_metadata(item, place));
  }
  if (const json::object* const object = value.if_object()) {
    for (const json::key_value_pair& member : *object) {
      if (!is_ascii(member.key())) return wrong(place, "has a member name that is not ASCII");
      SALLYPORT_CHECK_OK(
          check_metadata(member.value(), fmt::format("{}.{}", place, std::string(member.key()))));
    }
  }
  return {};
}

Result<void> check_cost(double cost) {
  constexpr double kLeast = 0.0001;
  constexpr double kBeyond = 1e15;
  if (cost == 0 || (cost >= kLeast && cost < kBeyond)) return {};
  return wrong("cost_usd", "must be 0, or at least 0.0001 and below 10^15");
}

bool is_whole_second(std::string_view time) {
  return time.size() == 20 && time.back() == 'Z' && time[10] == 'T' && from_rfc3339(time);
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}

std::optional<Outcome> outcome_from(std::string_view word) {
  const auto found = std::ranges::find(kOutcomes, word);
  if (found == kOutcomes.end()) return std::nullopt;
  return static_cast<Outcome>(found - kOutcomes.begin());
}

bool TrustRecord::is_control() const {
  return bool_in(metadata, "control").value_or(false) || action == "trust.promote" ||
         action == "trust.demote";
}

bool TrustRecord::is_withheld() const {
  using enum core::Enforcement;
  const auto enforcement =
      core::enum_of(core::kEnforcements, text_or_empty(metadata, "autonomy.enforcement"));
  return enforcement == ShadowNoop || enforcement == SuggestApprovalRequest;
}

Result<void> check_record(const TrustRecord& record) {
  const std::optional<Uuid> id = parse_uuid(record.record_id);
  if (!id || !is_version7(*id)) return wrong("record_id", "must be a UUIDv7");
  for (const auto& [name, text] : {std::pair("agent", record.agent),
                                   {"action", record.action},
                                   {"trace_id", record.trace_id}}) {
    if (text.empty()) return wrong(name, "is empty");
  }
  if (record.approver && record.approver->empty()) return wrong("approver", "is empty");
  if (!is_whole_second(record.timestamp)) {
    return wrong("timestamp", "must be RFC 3339 in UTC with whole seconds and `Z`");
  }
  if (record.cost_usd) SALLYPORT_CHECK_OK(check_cost(*record.cost_usd));
  return check_metadata(record.metadata, "metadata");
}

json::object to_json(const TrustRecord& record) {
  json::object object{{"schema", kRecordSchema},
                      {"record_id", record.record_id},
                      {"agent", record.agent},
                      {"action", record.action},
                      {"approver", core::or_null(record.approver)},
                      {"outcome", to_string(record.outcome)},
                      {"trace_id", record.trace_id},
                      {"autonomy_tier", to_string(record.autonomy_tier)},
                      {"timestamp", record.timestamp},
                      {"cost_usd", core::or_null(record.cost_usd)},
                      {"metadata", record.metadata}};
  if (record.chain_index == 0) return object;
  object["chain_index"] = record.chain_index;
  object["previous_hash"] = core::or_null(record.previous_hash);
  object["entry_hash"] = record.entry_hash;
  return object;
}

Result<TrustRecord> trust_record_from_json(const json::value& value) {
  ObjectReader in(value, "record");
  TrustRecord record{.record_id = in.text("record_id"),
                     .agent = in.text("agent"),
                     .action = in.text("action"),
                     .approver = in.optional_text("approver"),
                     .trace_id = in.text("trace_id"),
                     .autonomy_tier = core::autonomy_in(in, "autonomy_tier"),
                     .timestamp = in.time("timestamp"),
                     .metadata = in.object("metadata"),
                     .chain_index = in.number("chain_index"),
                     .previous_hash = in.optional_text("previous_hash"),
                     .entry_hash = in.text("entry_hash")};
  record.outcome = outcome_from(in.word("outcome", {"success", "failure", "denied", "timeout"}))
                       .value_or(Outcome::Failure);
  if (in.has("cost_usd")) {
    const json::value cost = in.any("cost_usd");
    if (!cost.is_number()) in.refuse("cost_usd", "must be a number or null");
    if (in.ok()) record.cost_usd = cost.to_number<double>();
  }
  return core::finished(in, std::move(record));
}

core::Draft trust_draft(const TrustRecord& record) {
  core::Draft draft{.kind = core::Kind::Trust,
                    .subject = Subject{.agent_id = record.agent, .trace_id = record.trace_id},
                    .outcome = std::string(to_string(record.outcome)),
                    .topic = std::string(kTopic),
                    .body = to_json(record)};
  if (const auto call = text_in(record.metadata, "call_id"))
    draft.subject.set(&Subject::call_id, std::string(*call));
  return draft;
}

std::string whole_seconds(WallTime time) {
  return rfc3339(time).substr(0, 19) + 'Z';
}

json::object to_metadata(const GovernedCall& call) {
  json::object metadata{{"autonomy.enforcement", call.enforcement},
                        {"builtin", call.builtin},
                        {"action_class", call.action_class},
                        {"call_id", call.call_id}};
  if (!call.approval_request_id.empty()) {
    metadata["approval_request_id"] = call.approval_request_id;
  }
  return metadata;
}

json::object approval_metadata(std::uint64_t quorum,
                               const std::vector<ApprovalSignature>& signatures) {
  json::array list;
  for (const ApprovalSignature& item : signatures) {
    list.push_back(json::object{
        {"reviewer", item.reviewer}, {"signed_at", item.signed_at}, {"signature", item.signature}});
  }
  return {{"required", true}, {"quorum", quorum}, {"signatures", std::move(list)}};
}

}  // namespace sallyport::trust
