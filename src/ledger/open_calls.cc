#include "ledger/open_calls.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/approval_state.h"
#include "core/approval/escalations.h"
#include "core/approval/live_questions.h"
#include "core/call/idempotency.h"
#include "core/handoff/waiting_facts.h"
#include "core/turn/continuations.h"
#include "ledger/read/query.h"

namespace sallyport::ledger {

namespace {

std::string ends_by_answer(std::string_view approval_id) {
  return fmt::format("answer or cancel `{}`; its program, or the next to start, then ends it",
                     approval_id);
}

std::string value_of(const core::Fact& fact) {
  const std::optional<core::Placed> placed = core::split_place(*fact.value);
  return placed ? placed->value : *fact.value;
}

// Null for each sealed field.
void take_out_sealed(json::value& value) {
  if (json::object* const object = value.if_object()) {
    if (object->contains("$sealed")) {
      value = nullptr;
      return;
    }
    for (json::key_value_pair& member : *object) take_out_sealed(member.value());
  } else if (json::array* const array = value.if_array()) {
    for (json::value& item : *array) take_out_sealed(item);
  }
}

// No value: there is no such question.
Result<std::optional<core::ApprovalState>> question(ReadView& view, const std::string& id) {
  SALLYPORT_TRY(const std::optional<std::string> stored, view.fact(core::kApprovalSpace, id));
  if (!stored) return std::nullopt;
  SALLYPORT_TRY(core::ApprovalState state, core::ApprovalState::parse(*stored));
  return std::move(state);
}

// The call that uses this idempotency row, or used it last.
Result<std::string> call_of_row(ReadView& view, const std::string& key) {
  SALLYPORT_TRY(const std::optional<std::string> stored, view.fact(core::kRowSpace, key));
  const std::optional<core::Placed> placed =
      stored ? core::split_place(*stored) : std::optional<core::Placed>();
  if (!placed) return std::string();
  SALLYPORT_TRY(const json::value row, parse_own_json(placed->value));
  return row.is_object() ? text_or_empty(row.get_object(), "call_id") : std::string();
}

}  // namespace

Result<OpenCalls> OpenCalls::in(ReadView& view) {
  OpenCalls open;
  SALLYPORT_TRY(const std::vector<core::Fact> run, view.facts(core::kOpenCall));
  for (const core::Fact& fact : run) open.ends_by_[fact.key] = "it runs; wait for its end";
  SALLYPORT_TRY(const std::vector<core::Fact> handed_out, view.facts(core::kHandedOut));
  for (const core::Fact& fact : handed_out) {
    open.ends_by_[fact.key] =
        fmt::format("wait for the result from its host, at most until {}", value_of(fact));
  }
  SALLYPORT_TRY(const std::vector<core::Fact> waiting, view.facts(core::kWaitingCall));
  for (const core::Fact& fact : waiting) {
    // A prepared operation of a process is open there as well.
    const bool only_waits =
        open.ends_by_.try_emplace(fact.key, fmt::format("answer or cancel `{}` first", *fact.value))
            .second;
    SALLYPORT_TRY(auto asked, question(view, *fact.value));
    if (asked && only_waits) open.resumable_.emplace(fact.key, std::move(*asked));
  }
  SALLYPORT_TRY(const std::vector<core::Fact> held, view.facts(core::kHeldCall));
  for (const core::Fact& fact : held) {
    const std::string value = value_of(fact);  // the approval and the holder
    open.ends_by_[fact.key] = ends_by_answer(value.substr(0, value.find(' ')));
  }
  // The call that asked may have ended while another one waits for the same answer.
  SALLYPORT_TRY(const std::vector<core::Fact> inputs, view.facts(core::kApprovalInput));
  for (const core::Fact& fact : inputs) {
    SALLYPORT_TRY(const auto asked, question(view, fact.key));
    if (asked && asked->open()) open.ends_by_.try_emplace(asked->call_id, ends_by_answer(fact.key));
  }
  return open;
}

Result<void> OpenCalls::refuse(const EntryView& entry) const {
  const auto found = ends_by_.find(entry.call_id);
  if (found == ends_by_.end()) return {};
  return fail(ErrorCode::Conflict, fmt::format("call `{}` of entry {} is still open: {}",
                                               entry.call_id, entry.sequence, found->second));
}

std::map<std::string, core::ApprovalStatus> OpenCalls::take_left(WallTime now) {
  std::map<std::string, core::ApprovalStatus> left;
  for (const auto& [call_id, asked] : resumable_) {
    const core::ApprovalStatus status = core::live_questions::shown_status(asked, now);
    if (status == core::ApprovalStatus::Pending || status == core::ApprovalStatus::Approved) {
      continue;
    }
    left.emplace(call_id, status);
    ends_by_.erase(call_id);
  }
  return left;
}

Result<std::vector<core::Draft>> end_left(WriteView& view, const std::string& call_id,
                                          core::ApprovalStatus status, const EndLeft& end) {
  std::optional<json::object> asked;
  std::vector<core::Fact> facts = {{std::string(core::kWaitingCall), call_id, std::nullopt}};
  SALLYPORT_CHECK_OK(find_entries(
      view, {.facets = {{Facet::Call, call_id}}},
      [&](const StoredEntry& stored, const EntryView&) -> Result<bool> {
        SALLYPORT_TRY(json::value entry, parse_own_json(*stored.bytes));
        json::object& members = entry.get_object();
        const json::object* const body = object_in(members, "body");
        const std::string record = body ? text_or_empty(*body, "record") : std::string();
        if (record == core::kTurnWaits) {
          for (core::Fact& fact :
               core::Continuations::closed(text_or_empty(*body, "continuation_id"))) {
            facts.push_back(std::move(fact));
          }
        } else if (text_or_empty(members, "outcome") == "requires_confirmation") {
          take_out_sealed(members.at("body"));
          asked = std::move(members);
        }
        return true;
      }));
  for (const core::Fact& fact : facts) SALLYPORT_CHECK_OK(view.put_fact(fact));
  return asked ? end(*asked, status) : std::vector<core::Draft>();
}

Result<std::map<std::uint64_t, std::string>> waiting_entries(ReadView& view) {
  std::map<std::uint64_t, std::string> waiting;
  SALLYPORT_TRY(const std::vector<core::Fact> questions, view.facts(core::kApprovalSpace));
  for (const core::Fact& fact : questions) {
    SALLYPORT_TRY(const core::ApprovalState state, core::ApprovalState::parse(*fact.value));
    if (!core::live_questions::is_live(state)) continue;
    const std::string what =
        fmt::format("approval `{}` still waits; answer or cancel it first", fact.key);
    waiting[state.sequence] = what;
    for (const core::Vote& vote : state.votes) {
      if (vote.sequence != 0) waiting[vote.sequence] = what;
    }
    SALLYPORT_TRY(const auto stored, view.fact(core::kRequestSpace, fact.key));
    const auto placed = stored ? core::split_place(*stored) : std::nullopt;
    if (placed) waiting[placed->sequence] = what;
  }
  SALLYPORT_TRY(const std::vector<core::Fact> escalations, view.facts(core::kEscalationSpace));
  for (const core::Fact& fact : escalations) {
    const std::optional<core::Placed> placed = core::split_place(*fact.value);
    if (!placed) continue;
    waiting[placed->sequence] = fmt::format(
        "escalation `{}` still waits; settle it first with `sallyport approvals accept` or "
        "`dismiss`",
        fact.key);
  }
  return waiting;
}

Result<void> drop_kept_copies(WriteView& view, const std::set<std::string>& ended_calls) {
  std::vector<core::FactKey> copies;
  for (const std::string_view space : {core::kProposedCall, core::kApprovalInput}) {
    SALLYPORT_TRY(const std::vector<core::Fact> kept, view.facts(space));
    for (const core::Fact& fact : kept) {
      SALLYPORT_TRY(const auto asked, question(view, fact.key));
      if (asked && ended_calls.contains(asked->call_id)) copies.push_back({fact.space, fact.key});
    }
  }
  SALLYPORT_TRY(const std::vector<core::Fact> prepared, view.facts(core::kPreparedCall));
  for (const core::Fact& fact : prepared) {
    SALLYPORT_TRY(const std::string call_id, call_of_row(view, fact.key));
    if (ended_calls.contains(call_id)) copies.push_back({fact.space, fact.key});
  }
  for (const core::FactKey& copy : copies) {
    SALLYPORT_CHECK_OK(view.put_fact({copy.space, copy.key, std::nullopt}));
  }
  return {};
}

}  // namespace sallyport::ledger
