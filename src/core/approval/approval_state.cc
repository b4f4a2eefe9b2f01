#include "core/approval/approval_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/record/read_field.h"

namespace sallyport::core {

namespace {

// A fact is not redacted, and a program may give any text as a name. So a name is stored as a
// digest, unless a key has vouched for it.
constexpr std::string_view kDigest = "digest:";

constexpr Word<ApprovalStatus> kStatuses[] = {
    {"pending", ApprovalStatus::Pending},     {"approved", ApprovalStatus::Approved},
    {"denied", ApprovalStatus::Denied},       {"expired", ApprovalStatus::Expired},
    {"cancelled", ApprovalStatus::Cancelled}, {"invalidated", ApprovalStatus::Invalidated},
    {"used", ApprovalStatus::Used},
};

std::string key_of(std::string_view name) {
  if (name.starts_with(kDigest)) return std::string(name);
  return std::string(kDigest) + hex(sha256(name));
}

json::object to_json(const Vote& vote) {
  json::object object{{"by", vote.signature.empty() ? key_of(vote.by) : vote.by},
                      {"at", vote.at},
                      {"door", vote.door},
                      {"approved", vote.approved}};
  if (!vote.signature.empty()) object["signature"] = vote.signature;
  if (vote.sequence != 0) object["sequence"] = vote.sequence;
  return object;
}

Vote vote_in(const json::object& object) {
  return {.by = text_or_empty(object, "by"),
          .at = text_or_empty(object, "at"),
          .door = text_or_empty(object, "door"),
          .signature = text_or_empty(object, "signature"),
          .sequence = number_in(object, "sequence").value_or(0),
          .approved = bool_in(object, "approved").value_or(false)};
}

std::vector<std::string> names_in(const json::object& object, std::string_view member) {
  std::vector<std::string> names;
  const json::value* const list = object.if_contains(member);
  if (list == nullptr || !list->is_array()) return names;
  for (const json::value& name : list->get_array()) {
    if (name.is_string()) names.emplace_back(name.get_string());
  }
  return names;
}

}  // namespace

std::string_view to_string(ApprovalStatus status) {
  return word_of(kStatuses, status);
}

std::optional<ApprovalStatus> approval_status_from(std::string_view word) {
  return enum_of(kStatuses, word);
}

std::string Vote::proof() const {
  return signature.empty() ? fmt::format("ledger:{}", sequence) : signature;
}

std::string ApprovalState::text() const {
  json::object object{{"state", to_string(status)},       {"call_id", call_id},
                      {"call_digest", call_digest},       {"expires_at", rfc3339(expires_at)},
                      {"use_within", use_within.count()}, {"required", required}};
  if (!votes.empty()) {
    json::array all;
    for (const Vote& vote : votes) all.push_back(to_json(vote));
    object["votes"] = std::move(all);
  }
  if (!also.empty()) object["also"] = json::value_from(also);
  if (reason_required) object["reason_required"] = true;
  if (needs_human) object["needs_human"] = true;
  if (!on_behalf_of.empty()) object["on_behalf_of"] = on_behalf_of;
  if (!later.empty()) {
    json::array all;
    for (const LaterReviewers& step : later) {
      all.push_back(json::object{
          {"at", rfc3339(step.at)}, {"rule", step.rule}, {"to", json::value_from(step.to)}});
    }
    object["later"] = std::move(all);
  }
  return canonical_json(object);
}

Result<ApprovalState> ApprovalState::parse(std::string_view stored) {
  const std::optional<Placed> placed = split_place(stored);
  if (!placed) return fail(ErrorCode::Corrupt, "the state of an approval cannot be read");
  SALLYPORT_TRY(const json::value value, parse_own_json(placed->value));
  const json::object* const object = value.if_object();
  if (object == nullptr)
    return fail(ErrorCode::Corrupt, "the state of an approval is not an object");
  const auto status = approval_status_from(text_or_empty(*object, "state"));
  if (!status) return fail(ErrorCode::Corrupt, "the state of an approval has an unknown name");
  ApprovalState state{
      .status = *status,
      .call_id = text_or_empty(*object, "call_id"),
      .call_digest = text_or_empty(*object, "call_digest"),
      .expires_at = from_rfc3339(text_or_empty(*object, "expires_at")).value_or(WallTime{}),
      .use_within = std::chrono::seconds(number_in(*object, "use_within").value_or(600)),
      .required = number_in(*object, "required").value_or(1),
      .stored = std::string(stored),
      .sequence = placed->sequence};
  const json::value* const votes = object->if_contains("votes");
  if (votes != nullptr && votes->is_array()) {
    for (const json::value& vote : votes->get_array()) {
      if (const json::object* const item = vote.if_object()) state.votes.push_back(vote_in(*item));
    }
  }
  state.also = names_in(*object, "also");
  state.reason_required = bool_in(*object, "reason_required").value_or(false);
  state.needs_human = bool_in(*object, "needs_human").value_or(false);
  state.on_behalf_of = text_or_empty(*object, "on_behalf_of");
  if (const json::value* const later = object->if_contains("later"); later && later->is_array()) {
    for (const json::value& item : later->get_array()) {
      const json::object* const members = item.if_object();
      if (members == nullptr) continue;
      state.later.push_back({.at = from_rfc3339(text_or_empty(*members, "at")).value_or(WallTime{}),
                             .rule = text_or_empty(*members, "rule"),
                             .to = names_in(*members, "to")});
    }
  }
  if (state.votes.empty() || state.votes.back().sequence != 0) return state;
  // The last vote could not know its own place. The decision that came with a signed one repeats
  // its reason, and is found after the approval was used, too.
  const bool is_signed = !state.votes.back().signature.empty();
  if (state.open() || (state.decided() && is_signed))
    state.votes.back().sequence = placed->sequence;
  return state;
}

Fact ApprovalState::fact(const std::string& approval_id) const {
  return {std::string(kApprovalSpace), approval_id, text(), true};
}

Fact ApprovalState::expected(const std::string& approval_id) const {
  return {std::string(kApprovalSpace), approval_id, stored};
}

bool ApprovalState::passes_on(WallTime now) const {
  return open() &&
         std::ranges::any_of(later, [&](const LaterReviewers& step) { return now >= step.at; });
}

std::optional<ApprovalStatus> ApprovalState::folded() const {
  std::vector<std::string> yes;
  for (const Vote& vote : votes) {
    if (!vote.approved) return ApprovalStatus::Denied;
    const std::string key = key_of(vote.by);
    if (std::ranges::find(yes, key) == yes.end()) yes.push_back(key);
    if (yes.size() >= required) return ApprovalStatus::Approved;
  }
  return std::nullopt;
}

std::vector<Vote> ApprovalState::counted() const {
  std::vector<Vote> counting;
  for (const Vote& vote : votes) {
    if (!vote.approved) return {vote};
    const bool again = std::ranges::any_of(
        counting, [&](const Vote& other) { return key_of(other.by) == key_of(vote.by); });
    if (!again) counting.push_back(vote);
  }
  return counting;
}

Result<std::optional<ApprovalState>> approval_state(RecordReader& records,
                                                    const std::string& approval_id) {
  SALLYPORT_TRY(const std::optional<std::string> stored, records.fact(kApprovalSpace, approval_id));
  if (!stored) return std::nullopt;
  SALLYPORT_TRY(ApprovalState state, ApprovalState::parse(*stored));
  for (Vote& vote : state.votes) {
    if (!vote.by.starts_with(kDigest) || vote.sequence == 0) continue;
    const Result<json::object> entry = records.entry(vote.sequence);
    const json::object* const body = entry ? object_in(*entry, "body") : nullptr;
    const std::string name = body ? text_or_empty(*body, "reviewer") : "";
    // A name that redaction changed matches no person.
    if (key_of(name) == vote.by) vote.by = name;
  }
  return state;
}

}  // namespace sallyport::core
