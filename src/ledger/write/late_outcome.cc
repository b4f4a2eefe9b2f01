#include "ledger/write/late_outcome.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/handoff/waiting_facts.h"
#include "ledger/write/committer.h"

namespace sallyport::ledger {

namespace {

// Null: the draft ends no call.
const core::Fact* closing_fact(const SealedDraft& draft) {
  const auto found = std::ranges::find_if(draft.facts(), [](const core::Fact& fact) {
    return fact.space == core::kOpenCall && !fact.value;
  });
  return found == draft.facts().end() ? nullptr : &*found;
}

core::Draft late_outcome(const SealedDraft& draft) {
  core::Draft late{.kind = core::Kind::Topic,
                   .subject = draft.subject(),
                   .topic = "late_outcomes",
                   .body = {{"record", "late_outcome"}, {"outcome", draft.outcome()}}};
  const Result<json::value> entry = parse_own_json(draft.bytes(0, {}, 0));
  const json::object* const whole = entry ? entry->if_object() : nullptr;
  const json::object* const body = whole != nullptr ? object_in(*whole, "body") : nullptr;
  const std::string effect = body != nullptr ? text_or_empty(*body, "effect_state") : "";
  if (!effect.empty()) late.body["effect_state"] = effect;
  return late;
}

}  // namespace

void note_intents(const Group& group, DoubtfulIntents& doubtful) {
  for (const SealedDraft& draft : group.drafts) {
    for (const core::Fact& fact : draft.facts()) {
      if (fact.space == core::kOpenCall && fact.value) doubtful[fact.key] = draft.id();
    }
  }
}

std::string ended_call(const SealedDraft& draft, const DoubtfulIntents& doubtful) {
  if (const core::Fact* const closes = closing_fact(draft)) return closes->key;
  const std::string& call = draft.subject()->call_id;
  const bool ends = draft.kind() == core::Kind::ToolAudit && !draft.outcome().empty();
  return ends && doubtful.contains(call) ? call : std::string();
}

Result<std::vector<std::string>> calls_closed_elsewhere(
    ReadView& view, const Group& group, const DoubtfulIntents& doubtful,
    const std::function<Result<bool>(const Uuid&)>& is_written) {
  std::vector<std::string> closed;
  for (const SealedDraft& draft : group.drafts) {
    const std::string call = ended_call(draft, doubtful);
    if (call.empty()) continue;
    SALLYPORT_TRY(const std::optional<std::string> open, view.fact(core::kOpenCall, call));
    if (open) continue;
    SALLYPORT_TRY(const bool written, is_written(draft.id()));
    if (written) continue;
    if (closing_fact(draft) == nullptr) {
      SALLYPORT_TRY(const bool began, is_written(doubtful.at(call)));
      if (!began) continue;
    }
    closed.push_back(call);
  }
  return closed;
}

std::vector<core::Draft> late_outcomes(const Group& group, const DoubtfulIntents& doubtful,
                                       const std::vector<std::string>& calls) {
  std::vector<core::Draft> late;
  for (const SealedDraft& draft : group.drafts) {
    if (std::ranges::find(calls, ended_call(draft, doubtful)) != calls.end()) {
      late.push_back(late_outcome(draft));
    }
  }
  return late;
}

}  // namespace sallyport::ledger
