// Proposed calls run without the agent once a person has said yes. Each runs at most once, in any
// process: the intent and the use of the approval are one commit (AP-22).
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/call/call_json.h"
#include "core/call/governor.h"
#include "core/handoff/waiting_facts.h"

namespace sallyport::core {

Task<std::vector<Answer>> Governor::run_answered(FindTool find_tool, std::stop_token cancel) {
  constexpr std::size_t kLargestCall = 64u << 20;
  std::vector<Answer> answers;
  SALLYPORT_CO_TRY(const std::vector<Fact> all, stages_.parts.recorder.facts(kProposedCall));
  for (const Fact& fact : all) {
    if (cancel.stop_requested()) break;
    SALLYPORT_CO_CHECK_OK(co_await stages_.approvals.expire(fact.key));
    SALLYPORT_CO_TRY(const auto state, stages_.approvals.state(fact.key));
    if (!state || state->open()) continue;
    SALLYPORT_CO_TRY(const std::string text,
                     stages_.parts.recorder.decrypt(fact.value.value_or("")));
    SALLYPORT_CO_TRY(const json::value value, parse_own_json(text, {.bytes = kLargestCall}));
    SALLYPORT_CO_TRY(const Call call, call_from_json(value));
    Resumption waited{.call = call, .approval_id = fact.key};
    if (const json::object* const prepared = object_in(value.as_object(), "prepared")) {
      SALLYPORT_CO_TRY(waited.prepared, prepared_from_json(*prepared));
    }
    waited.closing.push_back({fact.space, fact.key, std::nullopt});
    std::shared_ptr<Upstream> upstream = find_tool(call);
    if (!upstream) continue;  // another process has its server
    Caller nobody{.cancel = cancel, .holds = false};
    Result<Answer> answer =
        co_await resume(std::move(waited), std::move(upstream), std::move(nobody));
    // Another process runs it, or has run it.
    if (!answer && answer.error().code == ErrorCode::Conflict) continue;
    if (!answer) co_return std::unexpected(answer.error());
    answers.push_back(std::move(*answer));
  }
  co_return answers;
}

}  // namespace sallyport::core
