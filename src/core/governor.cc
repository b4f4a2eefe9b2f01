#include "core/governor.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/race.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/decision.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kLongestIdentifier = 512;
constexpr std::size_t kDeepestInput = 100;

Result<void> check_identifiers(const Call& call) {
  const std::pair<std::string_view, const std::string&> identifiers[] = {
      {"tool_call_id", call.tool_call_id},
      {"agent_id", call.agent_id},
      {"session_id", call.session_id},
      {"trace_id", call.trace_id},
      {"server", call.server},
      {"tool", call.tool},
      {"provider", call.provenance.provider},
      {"model", call.provenance.model}};
  for (const auto& [name, text] : identifiers) {
    if (text.size() > kLongestIdentifier || !check_json(json::value(text))) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("`{}` is over {} bytes or not UTF-8", name, kLongestIdentifier),
                  std::string(name));
    }
  }
  if (call.tool.empty()) return fail(ErrorCode::InvalidInput, "a call names its tool", "tool");
  return {};
}

ToolResult refusal_notice(const Refusal& refusal) {
  return {.success = false,
          .output =
              (refusal.by_hook ? "Blocked by pre-execution hook: " : "Blocked: ") + refusal.reason};
}

// A coroutine of its own, so that a call that was given up on owns all it needs.
Async<Result<Envelope>> invoke(std::shared_ptr<Upstream> upstream, Call call,
                               std::stop_token stop) {
  co_return co_await upstream->invoke(std::move(call), std::move(stop));
}

}  // namespace

Governor::Governor(Parts parts)
    : parts_(std::move(parts)),
      journal_(parts_.recorder),
      fail_open_(parts_.recorder.instance_id()) {}

Task<Answer> Governor::run(Call asked, std::shared_ptr<Upstream> upstream, std::stop_token cancel) {
  SALLYPORT_CO_TRY(Call call, identify(std::move(asked)));
  Trail trail(std::move(call), parts_.plans.current(), parts_.digest, fail_open_);  // classified
  co_await decide(trail, parts_.clock);                               // guards; an error denies
  if (trail.open()) consent(trail);                                   // tier and autonomy
  if (trail.open()) SALLYPORT_CO_CHECK_OK(co_await announce(trail));  // no record, no effect
  Outcome outcome = Outcome::blocked(trail.open() ? "" : trail.refusal()->reason);
  if (trail.open()) {
    Performed performed = co_await perform(trail, std::move(upstream), cancel);  // errors fold in
    outcome = co_await release(trail, std::move(performed));  // the second door, every path
  }
  SALLYPORT_CO_TRY(Position record, co_await journal_.end(trail, outcome));
  ToolResult shown = outcome.result ? *outcome.result : refusal_notice(*trail.refusal());
  co_return Answer{trail.call().call_id, std::move(outcome), std::move(record), std::move(shown)};
}

Result<Call> Governor::identify(Call call) const {
  SALLYPORT_CHECK_OK(check_identifiers(call));
  SALLYPORT_CHECK_OK(check_json(call.input, kDeepestInput));
  call.call_id = uuid7_text(parts_.clock, parts_.entropy);
  if (call.tool_call_id.empty()) call.tool_call_id = call.call_id;
  if (call.trace_id.empty()) call.trace_id = "trace-" + uuid7_text(parts_.clock, parts_.entropy);
  if (call.agent_id.empty()) call.agent_id = "runtime";
  return call;
}

// A person cannot be asked yet: what would need one is refused.
void Governor::consent(Trail& trail) const {
  if (trail.question) {
    trail.refuse({"approval is needed, and nobody can be asked: " + *trail.question});
  }
  if (trail.classification().tier == Tier::Observe || trail.autonomy == Autonomy::ActAuto) return;
  if (trail.autonomy == Autonomy::Shadow) {
    trail.refuse({"shadow: " + trail.call().tool + " was not run"});
    return;
  }
  trail.refuse({fmt::format("`{}` needs approval under {}, and nobody can be asked",
                            trail.call().tool, to_string(trail.autonomy))});
}

Task<void> Governor::announce(Trail& trail) {
  const Result<Position> intent = co_await journal_.begin(trail);
  if (intent) co_return Result<void>{};
  if (intent.error().code == ErrorCode::InvalidInput) {
    // The ledger is well, this call does not fit into it.
    trail.forget_evidence();
    trail.refuse({"the call cannot be recorded: " + intent.error().message});
    co_return Result<void>{};
  }
  journal_.owe(trail, Outcome::persistence_failed(
                          "the intent could not be recorded: " + intent.error().message,
                          std::nullopt, EffectState::None));
  co_return std::unexpected(intent.error());
}

Async<Governor::Performed> Governor::perform(const Trail& trail, std::shared_ptr<Upstream> upstream,
                                             std::stop_token cancel) {
  const auto limit = std::min(trail.call().time_limit.value_or(trail.plan().time_limit()),
                              trail.plan().time_limit());
  std::stop_source stop;
  const SteadyTime begin = parts_.clock.steady();
  Raced<Result<Envelope>> raced =
      co_await race<Result<Envelope>>(invoke(std::move(upstream), trail.call(), stop.get_token()),
                                      std::chrono::steady_clock::now() + limit, std::move(cancel));
  Performed performed;
  performed.duration_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(parts_.clock.steady() - begin).count());
  switch (raced.finish) {
    case Finish::Worked:
      if (*raced.value) {
        performed.envelope = std::move(**raced.value);
        performed.effect = EffectState::Done;
      } else {
        performed.envelope =
            Envelope::error("the tool could not be reached: " + raced.value->error().message);
      }
      break;
    case Finish::Threw:
      performed.envelope = Envelope::error("the tool failed");
      break;
    case Finish::Deadline:
      stop.request_stop();
      performed.envelope = Envelope::error(fmt::format("timed out after {} ms", limit.count()));
      break;
    case Finish::Cancelled:
      stop.request_stop();
      performed.envelope = Envelope::error("cancelled");
      break;
  }
  co_return performed;
}

Async<Outcome> Governor::release(Trail& trail, Performed performed) {
  ResultContext context{.tool = trail.call().tool,
                        .call = std::make_shared<const Call>(trail.call()),
                        .effect_class = trail.classification().effect_class,
                        .policy_hash = trail.plan().hash(),
                        .is_error = performed.envelope.kind == Envelope::Kind::Error};
  Release released = co_await run_pipeline(trail.plan(), std::move(performed.envelope),
                                           std::move(context), parts_.clock, trail.fail_open);
  ToolResult result = released.released.to_result();
  result.duration_ms = performed.duration_ms;
  Outcome outcome = Outcome::completed(std::move(result), performed.effect);
  outcome.release = std::move(released);
  co_return outcome;
}

}  // namespace sallyport::core
