#include "core/event/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>

#include "base/try.h"
#include "core/plan/fail_open.h"
#include "core/plan/plan.h"
#include "core/record/shapes.h"

namespace sallyport::core {

namespace {

// Says whether it took anything out.
bool redact_member(const Redactor& redactor, std::string_view name, json::value& value) {
  try {
    return !redactor.redact(name, value).empty();
  } catch (const std::exception&) {
    value = "[REDACTED:unreadable]";
    return true;
  }
}

// Hooks see what readers of the ledger will see (EV-8). What names things stays as it is.
bool redact_members(const Redactor& redactor, json::object& object) {
  bool changed = false;
  for (json::key_value_pair& member : object) {
    const std::string_view name = member.key();
    if (name == "kind" || name.ends_with("_id")) continue;
    if (json::object* const nested = member.value().if_object(); nested && name == "preview") {
      changed |= redact_members(redactor, *nested);
    } else if (member.value().is_string() || member.value().is_structured()) {
      changed |= redact_member(redactor, name, member.value());
    }
  }
  return changed;
}

}  // namespace

Draft hook_failed(const std::string& hook, std::string_view event_type,
                  std::optional<std::uint64_t> sequence, const std::string& error,
                  const SharedSubject& subject) {
  return {.kind = Kind::HookFailed,
          .subject = subject,
          .body = {{"record", "hook_failed"},
                   {"hook", hook},
                   {"event_type", event_type},
                   {"event_sequence", sequence ? json::value(*sequence) : json::value()},
                   {"error", error}}};
}

Draft event_row(const Event& event, const SharedSubject& subject) {
  CanonicalWriter body;
  body.object([&] { write_members(body, event); });
  return {.kind = Kind::Event, .subject = subject, .body = std::move(body)};
}

Result<Event> Emitter::redacted(const Event& event) const {
  json::object object = to_json(event);
  if (!redact_members(parts_.redactor, object)) return event;
  return event_from_json(object);
}

Async<HookRegistry::Told> Emitter::tell_hooks(const Event& event, const Subject& subject) const {
  const Result<Event> shown = redacted(event);
  if (!shown) co_return HookRegistry::Told{.failures = {{"redaction", shown.error().message}}};
  HookRegistry::Told told = co_await parts_.hooks.tell(*shown, subject, parts_.clock);
  const HookRegistry of_plan = plan_hooks();
  if (of_plan.empty()) co_return told;
  HookRegistry::Told more = co_await of_plan.tell(*shown, subject, parts_.clock);
  std::ranges::move(more.rows, std::back_inserter(told.rows));
  std::ranges::move(more.failures, std::back_inserter(told.failures));
  co_return told;
}

HookRegistry Emitter::plan_hooks() const {
  HookRegistry hooks;
  const std::shared_ptr<const Plan> plan = parts_.plans ? parts_.plans->current() : nullptr;
  // Names of the policy are unique.
  if (plan) (void)hooks.extend(plan->listeners().hooks);
  return hooks;
}

bool Emitter::has_hooks() const {
  if (!parts_.hooks.empty()) return true;
  const std::shared_ptr<const Plan> plan = parts_.plans ? parts_.plans->current() : nullptr;
  return plan && !plan->listeners().hooks.empty();
}

// Hooks that may fail open and did not: what they failed at before is over.
void Emitter::note_working(const std::vector<HookRegistry::Failure>& failures,
                           FailOpen& fail_open) const {
  const std::shared_ptr<const Plan> plan = parts_.plans ? parts_.plans->current() : nullptr;
  if (!plan) return;
  for (const std::shared_ptr<const EventHook>& hook : plan->listeners().hooks) {
    const bool worked =
        std::ranges::find(failures, hook->name(), &HookRegistry::Failure::hook) == failures.end();
    if (hook->fails_open() && worked) fail_open.worked(hook->name());
  }
}

Task<void> Emitter::tell(const Event& event, const SharedSubject& subject, std::vector<Draft>& rows,
                         std::optional<std::uint64_t> sequence, FailOpen* fail_open) {
  if (!has_hooks()) co_return Result<void>{};
  HookRegistry::Told told = co_await tell_hooks(event, subject);
  std::ranges::move(told.rows, std::back_inserter(rows));
  if (fail_open) note_working(told.failures, *fail_open);
  std::string names;
  for (const HookRegistry::Failure& failure : told.failures) {
    const bool stops = announces(event) && !failure.passes;
    if (stops) {
      names += (names.empty() ? "" : ", ") + failure.hook;
    } else if (announces(event) && fail_open) {
      fail_open->failed(failure.hook, failure.error == "timeout" ? "timeout" : "error");
    } else {
      rows.push_back(
          hook_failed(failure.hook, event_type(event), sequence, failure.error, subject));
    }
  }
  if (names.empty()) co_return Result<void>{};
  co_return fail(ErrorCode::Unavailable, "event sink failed: " + names, names, "hook");
}

Task<void> Emitter::emit(Event event, SharedSubject subject, std::vector<Fact> facts,
                         std::vector<Fact> expected,
                         std::vector<std::shared_ptr<const FactChange>> changes) {
  Draft row = event_row(event, subject);
  row.facts = std::move(facts);
  row.changes = std::move(changes);
  std::vector<Draft> rows;
  rows.push_back(row);
  const Urgency urgency = announces(event) ? Urgency::Announces : Urgency::Reports;
  const Result<std::vector<Position>> written =
      co_await parts_.records.append(std::move(rows), urgency, std::move(expected));
  if (!written) {
    const ErrorCode code = written.error().code;
    const bool unfit = code == ErrorCode::Conflict || code == ErrorCode::InvalidInput ||
                       (code == ErrorCode::Exhausted && !row.changes.empty());
    if (unfit) co_return std::unexpected(written.error());
    if (!announces(event)) {
      std::vector<Draft> owed;
      owed.push_back(std::move(row));
      parts_.records.owe(std::move(owed));
    }
    co_return fail(written.error().code, "event sink failed: audit: " + written.error().message, {},
                   "store");
  }
  std::vector<Draft> beside;
  const Result<void> told = co_await tell(event, subject, beside, written->back().sequence);
  if (!beside.empty()) {
    const auto noted = co_await parts_.records.append(beside, Urgency::Reports);
    if (!noted) parts_.records.owe(std::move(beside));
  }
  co_return told;
}

}  // namespace sallyport::core
