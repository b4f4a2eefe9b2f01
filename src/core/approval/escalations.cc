#include "core/approval/escalations.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "base/json_members.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/event/topic_event.h"

namespace sallyport::core {

namespace {

constexpr std::string_view kItems = kEscalationSpace;
constexpr std::string_view kCounts = "escalation_count";
constexpr std::chrono::seconds kShared{60};
constexpr std::chrono::seconds kOnItsWay{5};
constexpr std::size_t kRemembered = 4096;

// A damaged fact counts as one; `ledger verify` reports the damage.
std::uint64_t counted(std::string_view stored) {
  std::uint64_t count = 1;
  std::from_chars(stored.data(), stored.data() + stored.size(), count);
  return count;
}

// Without members: an earlier release pruned the entry, and the item can still be settled.
Result<json::object> opening_entry(RecordReader& records, std::uint64_t sequence) {
  Result<json::object> entry = records.entry(sequence);
  if (!entry && entry.error().code == ErrorCode::NotFound) return json::object();
  return entry;
}

// `stored`: the fact of the item, which names the entry that opened it.
Result<Draft> accepted_event(RecordReader& records, const std::string& id,
                             const std::string& stored, const std::string& by) {
  json::object opened;
  if (const std::optional<Placed> placed = split_place(stored)) {
    SALLYPORT_TRY(opened, opening_entry(records, placed->sequence));
  }
  const std::string trace = text_or_empty(opened, "trace_id");
  SALLYPORT_TRY(
      Draft event,
      topic_draft(
          {.topic = std::string(hitl::kEscalations),
           .kind = std::string(hitl::kEscalationAccepted),
           .payload = json::object{{"request_id", id}, {"reviewer", by}, {"trace_id", trace}}},
          Governed{.agent = text_or_empty(opened, "agent_id"), .trace_id = trace}));
  event.subject.set(&Subject::call_id, text_or_empty(opened, "call_id"));
  return event;
}

bool opens(const std::vector<Draft>& drafts, const std::string& id) {
  return std::ranges::any_of(drafts, [&](const Draft& draft) {
    return std::ranges::any_of(
        draft.facts, [&](const Fact& fact) { return fact.space == kItems && fact.key == id; });
  });
}

}  // namespace

Escalations::Opened Escalations::open(const std::vector<Escalation>& messages,
                                      const SharedSubject& subject,
                                      const std::vector<Draft>& beside) {
  Opened opened;
  const SteadyTime now = clock_.steady();
  for (const Escalation& escalation : messages) {
    const std::string key =
        canonical_json(json::array{escalation.guard, subject->session_id, escalation.message});
    const Recent fresh{"esc-" + uuid7_text(clock_, entropy_), now, subject->call_id};
    Recent item = recent_.with([&](auto& recent) {
      if (recent.size() >= kRemembered) recent.clear();
      Recent& known = recent[key];
      if (known.id.empty() || now - known.first >= kShared) known = fresh;
      return known;
    });
    // A missing item is about to be written with the call that opens it. Or it was settled or never
    // written: then this message gets a new item.
    const bool waiting = item.id != fresh.id && waits(item.id).value_or(false);
    const bool mine = item.call_id == subject->call_id;
    if (!waiting && !mine && now - item.first >= kOnItsWay) {
      item = fresh;
      recent_.with([&](auto& recent) { recent[key] = fresh; });
    }
    const std::string& id = item.id;
    const bool shared = waiting || item.call_id != subject->call_id;
    opened.ids.push_back(id);
    opened.counts.push_back({.space = std::string(kCounts), .key = id, .counts = true});
    if (shared || opens(opened.drafts, id) || opens(beside, id)) continue;
    Draft draft{.kind = Kind::Approval,
                .subject = subject,
                .body = {{"record", "approval_request"},
                         {"request_id", id},
                         {"kind", "escalation"},
                         {"state", "pending"},
                         {"guard", escalation.guard},
                         {"message", escalation.message}}};
    draft.facts.push_back({std::string(kItems), id, "pending", true});
    opened.drafts.push_back(std::move(draft));
  }
  return opened;
}

Result<bool> Escalations::waits(const std::string& id) {
  SALLYPORT_TRY(const std::optional<std::string> item, records_.fact(kItems, id));
  return item.has_value();
}

Result<std::optional<EscalationItem>> waiting_escalation(RecordReader& records,
                                                         const std::string& id) {
  SALLYPORT_TRY(const std::optional<std::string> stored, records.fact(kItems, id));
  const std::optional<Placed> placed = stored ? split_place(*stored) : std::nullopt;
  if (!placed) return std::nullopt;
  SALLYPORT_TRY(const json::object entry, opening_entry(records, placed->sequence));
  SALLYPORT_TRY(const std::optional<std::string> count, records.fact(kCounts, id));
  const json::object* const found = object_in(entry, "body");
  const json::object body = found ? *found : json::object{{"message", "(its entry was pruned)"}};
  return EscalationItem{.id = id,
                        .call_id = text_or_empty(entry, "call_id"),
                        .session_id = text_or_empty(entry, "session_id"),
                        .agent_id = text_or_empty(entry, "agent_id"),
                        .server = text_or_empty(entry, "server"),
                        .tool = text_or_empty(entry, "tool_name"),
                        .guard = text_or_empty(body, "guard"),
                        .message = text_or_empty(body, "message"),
                        .opened_at = text_or_empty(entry, "recorded_at"),
                        .count = count ? counted(*count) : 1};
}

Result<std::vector<EscalationItem>> waiting_escalations(RecordReader& records) {
  SALLYPORT_TRY(const std::vector<Fact> items, records.facts(kItems));
  std::vector<EscalationItem> waiting;
  for (const Fact& fact : items) {
    SALLYPORT_TRY(std::optional<EscalationItem> item, waiting_escalation(records, fact.key));
    if (item) waiting.push_back(std::move(*item));
  }
  return waiting;
}

Task<void> Escalations::settle(std::string id, bool accepted, std::string by, std::string note) {
  SALLYPORT_CO_TRY(const std::optional<std::string> stored, records_.fact(kItems, id));
  if (!stored) {
    co_return fail(ErrorCode::NotFound, fmt::format("no escalation `{}` is waiting", id));
  }
  Draft draft{.kind = Kind::Approval,
              .body = {{"record", "approval_decision"},
                       {"request_id", id},
                       {"state", accepted ? "accepted" : "dismissed"},
                       {"reviewer", by},
                       {"reason", note}}};
  draft.facts.push_back({std::string(kItems), id, std::nullopt});
  draft.facts.push_back({std::string(kCounts), id, std::nullopt});
  std::vector<Draft> drafts;
  if (accepted) {
    SALLYPORT_CO_TRY(Draft event, accepted_event(records_, id, *stored, by));
    drafts.push_back(std::move(event));
  }
  drafts.push_back(std::move(draft));
  SALLYPORT_CO_CHECK_OK(co_await records_.append(std::move(drafts), Urgency::Reports,
                                                 {{std::string(kItems), id, stored}}));
  recent_.with([&](auto& recent) {
    std::erase_if(recent, [&](const auto& known) { return known.second.id == id; });
  });
  co_return Result<void>{};
}

}  // namespace sallyport::core
