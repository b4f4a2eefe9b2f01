#include "core/call/preparing.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/race.h"
#include "base/shielded.h"
#include "core/handoff/waiting_facts.h"

namespace sallyport::core {

namespace {

using Step = Result<std::optional<PrepareStep>>;

// A separate coroutine keeps the preparation alive after the call stops waiting for it.
Async<Step> next_of(std::shared_ptr<Preparation> preparation) {
  co_return co_await preparation->next();
}

// The result of one wait for the tool: a step, or why there will be none.
struct StepResult {
  std::optional<PrepareStep> step{};
  std::string fault{};
  bool cancelled = false;
};

StepResult result_of(Raced<Step> raced) {
  switch (raced.finish) {
    case Finish::Worked:
      if (!*raced.value) return {.fault = "preparation failed: " + raced.value->error().message};
      if (!**raced.value) return {.fault = "preparation ended early"};
      return {.step = std::move(**raced.value)};
    case Finish::Threw:
      return {.fault = "preparation failed"};
    case Finish::Cancelled:
      return {.fault = "cancelled", .cancelled = true};
    case Finish::Deadline:
      break;
  }
  return {.fault = "preparation was silent for too long"};
}

std::string fault_of(const Prepared& prepared, WallTime now) {
  if (!check_json(to_json(prepared), 90)) return "what was prepared is not valid JSON";
  if (prepared.expires_at && !from_rfc3339(*prepared.expires_at)) {
    return fmt::format("`expires_at` of the preparation is not an RFC 3339 time: `{:.60}`",
                       *prepared.expires_at);
  }
  return expired(prepared, now).value_or("");
}

}  // namespace

std::optional<std::string> expired(const Prepared& prepared, WallTime now) {
  if (!prepared.expires_at) return std::nullopt;
  const std::optional<WallTime> end = from_rfc3339(*prepared.expires_at);
  if (end && now < *end) return std::nullopt;
  return "the preparation expired at " + *prepared.expires_at;
}

Async<std::optional<Event>> prepare(Trail& trail, std::shared_ptr<Upstream> upstream,
                                    const Clock& clock, std::stop_token cancel,
                                    PreparationLimits limits) {
  PreparingUpstream& tool = *upstream->preparing();
  std::stop_source stop;
  const Result<std::shared_ptr<Preparation>> begun =
      shielded("preparation", [&] { return tool.prepare(trail.call(), stop.get_token()); });
  if (!begun || !*begun) {
    trail.refuse({"preparation failed", Refusal::By::Preparation});
    co_return std::nullopt;
  }
  const std::shared_ptr<Preparation>& preparation = *begun;
  const auto end = std::chrono::steady_clock::now() +
                   std::min(limits.whole, trail.call().time_limit.value_or(limits.whole));
  std::string operation_id;
  StepResult last;
  for (unsigned steps = 0; last.fault.empty(); ++steps) {
    const auto now = std::chrono::steady_clock::now();
    if (steps > limits.steps) {
      last.fault = "preparation sent too many updates";
    } else if (now >= end) {
      last.fault = "preparation took too long";
    } else {
      last = result_of(
          co_await race<Step>(next_of(preparation), std::min(end, now + limits.silence), cancel));
    }
    if (!last.step || last.step->kind == PrepareStep::Kind::Working) continue;
    if (last.step->kind != PrepareStep::Kind::Ready) break;
    operation_id = last.step->prepared.operation_id;
    last.fault = fault_of(last.step->prepared, clock.wall());
    if (!last.fault.empty()) break;
    trail.prepared(std::move(last.step->prepared), tool.outlives_process());
    co_return std::nullopt;
  }
  stop.request_stop();
  (void)shielded("cancel", [&] { tool.cancel(operation_id); });
  const std::string why = readable(last.step ? last.step->text : last.fault);
  if (last.step && last.step->kind == PrepareStep::Kind::Refused) {
    trail.refuse({why, Refusal::By::Tool});
    if (!last.step->action) co_return std::nullopt;
    const std::string& detail = last.step->detail;
    co_return event::AuthorizationDenied{trail.call().agent_id, *last.step->action,
                                         detail.empty() ? why : readable(detail)};
  }
  if (last.cancelled) {
    trail.refuse({last.fault, Refusal::By::Cancel});
  } else {
    const bool invalid = last.step && last.step->kind == PrepareStep::Kind::Invalid;
    trail.refuse({invalid ? why : readable(last.fault), Refusal::By::Preparation});
  }
  co_return std::nullopt;
}

// The record may be redacted and then differs from what was confirmed.
std::optional<Fact> kept_preparation(Vault& vault, const Trail& trail) {
  if (trail.row_key.empty() || trail.recovery_class() != RecoveryClass::Resumable)
    return std::nullopt;
  return Fact{std::string(kPreparedCall), trail.row_key,
              vault.encrypt(canonical_json(to_json(*trail.prepared())))};
}

std::optional<Prepared> kept_preparation(RecordReader& records, const Vault& vault,
                                         const std::string& row_key) {
  const auto sealed = records.fact(kPreparedCall, row_key);
  if (!sealed || !*sealed) return std::nullopt;
  const Result<std::string> text = vault.decrypt(**sealed);
  const Result<json::value> value =
      text ? parse_own_json(*text) : Result<json::value>(std::unexpected(text.error()));
  if (!value) return std::nullopt;
  Result<Prepared> prepared = prepared_from_json(*value, "prepared");
  if (!prepared) return std::nullopt;
  return std::move(*prepared);
}

void drop_preparation(Trail& trail, Upstream& upstream) {
  if (!trail.prepared() || upstream.preparing() == nullptr || trail.dropped) return;
  trail.dropped = true;
  // An exception changes nothing: the call has ended.
  (void)shielded("cancel", [&] { upstream.preparing()->cancel(trail.prepared()->operation_id); });
}

}  // namespace sallyport::core
