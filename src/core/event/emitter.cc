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

// True: something was removed.
bool redact_member(const Redactor& redactor, std::string_view name, json::value& value) {
  try {
    return !redactor.redact(name, value).empty();
  } catch (const std::exception&) {
    value = "[REDACTED:unreadable]";
    return true;
  }
}

// An id stays, but for secrets in it.
bool redact_id(const Redactor& redactor, json::value& value) {
  std::string text(value.get_string());
  if (!redact_name(redactor, text)) return false;
  value = std::move(text);
  return true;
}

// Hooks see the same as readers of the ledger (EV-8).
bool redact_members(const Redactor& redactor, json::object& object) {
  bool changed = false;
  for (json::key_value_pair& member : object) {
    const std::string_view name = member.key();
    if (name == "kind") continue;
    if (name.ends_with("_id")) {
      changed |= member.value().is_string() && redact_id(redactor, member.value());
    } else if (json::object* const nested = member.value().if_object();
               nested && name == "preview") {
      changed |= redact_members(redactor, *nested);
    } else if (member.value().is_string() || member.value().is_structured()) {
      changed |= redact_member(redactor, name, member.value());
    }
  }
  return changed;
}

// Ends the fail-open intervals of hooks that were notified and did not fail.
void note_working(const std::vector<std::shared_ptr<const EventHook>>& hooks,
                  const Subject& subject, const std::vector<HookRegistry::Failure>& failures,
                  FailOpen& fail_open) {
  for (const std::shared_ptr<const EventHook>& hook : hooks) {
    if (!hook->fails_open() || !hook->wants(subject)) continue;
    const auto failure = std::ranges::find(failures, hook->name(), &HookRegistry::Failure::hook);
    if (failure == failures.end() || failure->refuses) fail_open.worked(hook->name());
  }
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

Async<HookRegistry::Notified> Emitter::notify_hooks(const Event& event,
                                                    const SharedSubject& subject,
                                                    FailOpen* fail_open) const {
  const Result<Event> shown = redacted(event);
  if (!shown)
    co_return HookRegistry::Notified{
        .failures = {{.hook = "redaction", .error = shown.error().message}}};
  const SharedSubject names = core::redacted(subject, parts_.redactor);
  HookRegistry::Notified notified =
      co_await parts_.hooks.notify(*shown, subject, names, parts_.clock);
  // The plan may change while they are notified, so it is read once.
  const std::vector<std::shared_ptr<const EventHook>> hooks = plan_hooks();
  if (hooks.empty()) co_return notified;
  HookRegistry of_plan(parts_.hooks.limit());
  (void)of_plan.extend(hooks);  // names of the policy are unique
  HookRegistry::Notified more = co_await of_plan.notify(*shown, subject, names, parts_.clock);
  if (fail_open) note_working(hooks, subject, more.failures, *fail_open);
  std::ranges::move(more.rows, std::back_inserter(notified.rows));
  std::ranges::move(more.failures, std::back_inserter(notified.failures));
  co_return notified;
}

std::vector<std::shared_ptr<const EventHook>> Emitter::plan_hooks() const {
  const std::shared_ptr<const Plan> plan = parts_.plans ? parts_.plans->current() : nullptr;
  return plan ? plan->listeners().hooks : std::vector<std::shared_ptr<const EventHook>>();
}

bool Emitter::has_hooks() const {
  return !parts_.hooks.empty() || !plan_hooks().empty();
}

Task<void> Emitter::notify(const Event& event, const SharedSubject& subject,
                           std::vector<Draft>& rows, std::optional<std::uint64_t> sequence,
                           FailOpen* fail_open) {
  if (!has_hooks()) co_return Result<void>{};
  HookRegistry::Notified notified = co_await notify_hooks(event, subject, fail_open);
  std::ranges::move(notified.rows, std::back_inserter(rows));
  std::string names;
  for (const HookRegistry::Failure& failure : notified.failures) {
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
  co_return fail(ErrorCode::Unavailable, "event sink failed: " + names, {}, "hook");
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
  const Result<void> notified = co_await notify(event, subject, beside, written->back().sequence);
  if (!beside.empty()) {
    const auto noted = co_await parts_.records.append(beside, Urgency::Reports);
    if (!noted) parts_.records.owe(std::move(beside));
  }
  co_return notified;
}

}  // namespace sallyport::core
