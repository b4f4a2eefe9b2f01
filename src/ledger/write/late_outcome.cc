#include "ledger/write/late_outcome.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::ledger {

namespace {

constexpr std::string_view kOpenCalls = "open_call";

// The call that the draft ends; null where it ends none.
const core::Fact* ended_call(const SealedDraft& draft) {
  const auto found = std::ranges::find_if(draft.facts(), [](const core::Fact& fact) {
    return fact.space == kOpenCalls && !fact.value;
  });
  return found == draft.facts().end() ? nullptr : &*found;
}

core::Draft late_outcome(const SealedDraft& draft) {
  const EntryView& said = draft.view();
  core::Draft late{.kind = core::Kind::Topic,
                   .subject = {.policy_hash = said.policy_hash,
                               .call_id = said.call_id,
                               .session_id = said.session_id,
                               .agent_id = said.agent_id,
                               .server = said.server,
                               .tool_name = said.tool_name,
                               .trace_id = said.trace_id,
                               .run_id = said.run_id},
                   .topic = "late_outcomes",
                   .body = {{"record", "late_outcome"}, {"outcome", said.outcome}}};
  const Result<json::value> entry = parse_own_json(draft.bytes(0, {}, 0));
  const json::object* const whole = entry ? entry->if_object() : nullptr;
  const json::object* const body = whole != nullptr ? object_in(*whole, "body") : nullptr;
  const std::string effect = body != nullptr ? text_or_empty(*body, "effect_state") : "";
  if (!effect.empty()) late.body["effect_state"] = effect;
  return late;
}

}  // namespace

Result<std::vector<std::string>> calls_closed_elsewhere(
    ReadView& view, const Group& group,
    const std::function<Result<bool>(const Uuid&)>& is_written) {
  std::vector<std::string> closed;
  for (const SealedDraft& draft : group.drafts) {
    const core::Fact* const ends = ended_call(draft);
    if (ends == nullptr) continue;
    SALLYPORT_TRY(const std::optional<std::string> open, view.fact(kOpenCalls, ends->key));
    if (open) continue;
    SALLYPORT_TRY(const bool written, is_written(draft.id()));
    if (!written) closed.push_back(ends->key);
  }
  return closed;
}

std::vector<core::Draft> late_outcomes(const Group& group, const std::vector<std::string>& calls) {
  std::vector<core::Draft> late;
  for (const SealedDraft& draft : group.drafts) {
    const core::Fact* const ends = ended_call(draft);
    if (ends != nullptr && std::ranges::find(calls, ends->key) != calls.end()) {
      late.push_back(late_outcome(draft));
    }
  }
  return late;
}

}  // namespace sallyport::ledger
