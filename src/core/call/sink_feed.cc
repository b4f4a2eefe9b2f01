#include "core/call/sink_feed.h"

#include <boost/json.hpp>

#include "core/call/call_record.h"
#include "core/event/emitter.h"
#include "core/plan/judge.h"
#include "core/record/stored_record.h"

namespace sallyport::core {

std::vector<std::shared_ptr<const Sink>> SinkFeed::sinks() const {
  std::vector<std::shared_ptr<const Sink>> all = parts_.sinks;
  if (const std::shared_ptr<const Plan> plan = parts_.plans.current()) {
    const auto& more = plan->listeners().sinks;
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

Async<void> SinkFeed::notify_sinks(Trail& trail, std::uint64_t sequence) {
  std::vector<Draft> failed;
  co_await give_to_sinks(sequence, trail.subject(), failed);
  for (Draft& draft : failed) trail.rows.push_back(std::move(draft));
  // Hooks that were notified of the end may have ended an interval of failing open.
  if (trail.rows.empty() && trail.fail_open.empty()) co_return;
  const auto written = co_await journal_.commit(trail, {}, Urgency::Reports);
  if (!written) journal_.owe_rows(trail);
}

Async<void> SinkFeed::give_to_sinks(std::uint64_t sequence, const Subject& subject,
                                    std::vector<Draft>& failed) {
  if (sinks().empty()) co_return;
  co_await give_late_records(failed);
  co_await give(sequence, parts_.recorder.entry(sequence), subject, failed);
}

Async<void> SinkFeed::give_late_records(std::vector<Draft>& failed) {
  for (const std::uint64_t sequence : parts_.recorder.take_late_records()) {
    Result<json::object> entry = parts_.recorder.entry(sequence);
    Subject subject = entry ? subject_of(*entry) : Subject{};
    co_await give(sequence, std::move(entry), std::move(subject), failed);
  }
}

Async<void> SinkFeed::give(std::uint64_t sequence, Result<json::object> entry, Subject subject,
                           std::vector<Draft>& failed) {
  const Result<AuditRecord> record =
      entry ? audit_record_of(*entry) : Result<AuditRecord>(std::unexpected(entry.error()));
  for (const std::shared_ptr<const Sink>& sink : sinks()) {
    const std::optional<std::string> failure =
        record ? co_await taken(sink, *record) : std::optional(record.error().message);
    if (!failure) continue;
    failed.push_back(hook_failed(sink->name(), "tool_audit", sequence, *failure, subject));
  }
}

Task<void> SinkFeed::deliver_late_records() {
  if (sinks().empty()) co_return Result<void>{};
  std::vector<Draft> failed;
  co_await give_late_records(failed);
  co_await note_failures(std::move(failed));
  co_return Result<void>{};
}

Async<void> SinkFeed::note_failures(std::vector<Draft> failed) {
  if (failed.empty()) co_return;
  const auto written = co_await parts_.recorder.append(failed, Urgency::Reports);
  if (!written) parts_.recorder.owe(std::move(failed));
}

}  // namespace sallyport::core
