// Replays a dispatch from its records. No person is asked and no tool runs (AP-24).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/call/governor.h"

namespace sallyport::core {

namespace {

// The properties of a tool without the tool: this can neither run nor prepare it.
class RecordedTool final : public Upstream {
 public:
  explicit RecordedTool(std::shared_ptr<const Upstream> tool) : tool_(std::move(tool)) {}

  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    co_return fail(ErrorCode::Internal, "a replay runs nothing");
  }
  ToolResult result_of(const Envelope& released) const override {
    return tool_->result_of(released);
  }
  bool known() const override { return tool_->known(); }
  bool raises_caution() const override { return tool_->raises_caution(); }
  std::string definition() const override { return tool_->definition(); }
  bool shows_release() const override { return tool_->shows_release(); }
  Result<json::value> structured_input(const Call& call) const override {
    return tool_->structured_input(call);
  }
  std::string working_directory() const override { return tool_->working_directory(); }

 private:
  std::shared_ptr<const Upstream> tool_;
};

std::string reason_of(const json::object& body) {
  const json::object* const outcome = object_in(body, "outcome");
  for (const char* const name : {"reason", "error", "description"}) {
    if (const auto reason = outcome ? text_in(*outcome, name) : std::nullopt) {
      return std::string(*reason);
    }
  }
  return "it has no result";
}

struct Recorded {
  std::uint64_t sequence = 0;  // of the terminal record
  json::object body{};
};

// Finds the recorded call by its request and the number of its repetition.
Result<std::optional<Recorded>> recorded_call(Stages& stages, const Trail& trail,
                                              ReplayCount& count) {
  const std::string& digest = trail.request_digest();
  SALLYPORT_TRY(const auto sequence, end_of_dispatched(stages.parts.recorder, count.trigger_id(),
                                                       digest, count.next(digest)));
  if (!sequence) return std::nullopt;
  SALLYPORT_TRY(const json::object entry, stages.parts.recorder.entry(*sequence));
  const json::object* const body = object_in(entry, "body");
  return Recorded{.sequence = *sequence, .body = body ? *body : json::object{}};
}

// Takes the recorded answer, found by the id of its question.
Result<void> take_recorded_answer(Stages& stages, Trail& trail,
                                  const std::optional<Recorded>& first) {
  const std::string id(first ? text_in(first->body, "approval_id").value_or("") : "");
  SALLYPORT_TRY(const auto state, stages.approvals.state(id));
  if (id.empty() || !state || state->open()) {
    trail.refuse(
        {fmt::format("replay_missing_answer: no answer about `{}` is on record", trail.call().tool),
         Refusal::By::Person});
    return {};
  }
  trail.approval_id = id;
  SALLYPORT_TRY(const Reply reply, stages.approvals.decided(*state));
  stages.asking.take_reply(trail, reply, trail.call_digest());
  return {};
}

std::optional<Performed> recall_recorded(Stages& stages, Trail& trail,
                                         const std::optional<Recorded>& first) {
  if (first) {
    if (Result<Performed> recalled = stages.execution.recall({.sequence = first->sequence})) {
      return std::move(*recalled);
    }
  }
  trail.refuse({first ? "replay_missing_result: it did not run then: " + reason_of(first->body)
                      : "replay_missing_result: no such call is on record for this event",
                Refusal::By::Idempotency});
  return std::nullopt;
}

}  // namespace

Task<Answer> Governor::replay(Call asked, std::shared_ptr<Upstream> upstream, ReplayCount& count) {
  SALLYPORT_CO_CHECK_OK(accept(asked));
  Trail trail = trail_of(std::move(asked));
  trail.replay_of = count.trigger_id();
  const std::shared_ptr<Upstream> tool = std::make_shared<RecordedTool>(std::move(upstream));
  SALLYPORT_CO_TRY(const std::optional<Recorded> first, recorded_call(stages_, trail, count));
  co_await stages_.first_door.authorize(trail, tool, {});
  if (trail.needs_person) {
    SALLYPORT_CO_CHECK_OK(take_recorded_answer(stages_, trail, first));
    if (trail.open()) co_await stages_.first_door.authorize(trail, tool, {});
  }
  if (trail.open() && trail.needs_person) {
    trail.refuse({"replay_missing_answer: the answer was for another input", Refusal::By::Person});
  }
  std::optional<Performed> recalled;
  if (trail.open()) recalled = recall_recorded(stages_, trail, first);
  if (!recalled) {
    co_return co_await stages_.closer.finish(
        trail, {.outcome = Outcome::blocked(trail.refusal()->reason)});
  }
  Ending ending = co_await stages_.second_door.release(trail, std::move(*recalled), *tool, {});
  ending.outcome = Outcome::replayed(std::move(*ending.outcome.result));
  co_return co_await stages_.closer.finish(trail, std::move(ending));
}

}  // namespace sallyport::core
