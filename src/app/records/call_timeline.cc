#include "app/records/call_timeline.h"

#include <boost/json.hpp>

#include "base/json_members.h"

namespace sallyport::app {

namespace {

json::value or_null(const std::optional<std::string>& text) {
  return text ? json::value(*text) : json::value();
}

std::string_view state_of(const OpenedEntry& entry, std::string_view path) {
  for (const ledger::Opening& opening : entry.openings) {
    if (opening.path != path) continue;
    if (opening.state == ledger::OpeningState::Erased) return "erased";
    return opening.state == ledger::OpeningState::Withheld ? "withheld" : "open";
  }
  return "open";
}

bool decides(GuardVerdict verdict) {
  using enum GuardVerdict;
  return verdict == Deny || verdict == Ask || verdict == Error;
}

json::object guard_json(const GuardRun& run, bool decided, bool reads) {
  json::object one{{"guard", run.guard},        {"stage", run.stage},
                   {"pass", run.pass},          {"verdict", to_string(run.verdict)},
                   {"rule", or_null(run.rule)}, {"why", reads ? or_null(run.why) : json::value()},
                   {"us", run.duration_us}};
  if (run.verdict == GuardVerdict::Skipped) one["skipped"] = or_null(run.why);
  if (reads && run.evidence.is_object()) {
    const auto place = text_in(run.evidence.get_object(), "path");
    if (place) one["place"] = *place;
  }
  if (decided) one["decided"] = true;
  return one;
}

json::array guards_json(const AuditRecord& record, bool autonomy, bool reads) {
  json::array all;
  bool found = false;
  for (const GuardRun& run : record.guards) {
    const bool decided = !found && decides(run.verdict);
    found = found || decided;
    if ((run.stage == "autonomy") == autonomy) all.push_back(guard_json(run, decided, reads));
  }
  return all;
}

}  // namespace

json::array call_timeline(const AuditRecord& record, const OpenedEntry& stored,
                          const api::Person& person) {
  const bool reads = person.reads_sealed();
  const bool denied = std::ranges::any_of(record.guards, [](const GuardRun& run) {
    return run.stage != "autonomy" &&
           (run.verdict == GuardVerdict::Deny || run.verdict == GuardVerdict::Error);
  });
  const std::string_view input = state_of(stored, "/body/requested_input");
  const bool redacted = !record.redactions.empty();
  const bool shows = reads && input == "open";
  const bool ran = record.effect_state != EffectState::None;
  const bool answered = !record.post_invocation.is_null();
  return {json::object{{"stage", "asked"},
                       {"at", record.decided_at.empty() ? record.recorded_at : record.decided_at},
                       {"sequence", record.sequence},
                       {"input", shows ? record.requested_input : json::value()},
                       {"input_state", !reads              ? "withheld"
                                       : shows && redacted ? "redacted"
                                                           : input}},
          json::object{{"stage", "first_door"},
                       {"class", record.effect_class},
                       {"class_source", record.class_source},
                       {"guards", guards_json(record, false, reads)}},
          json::object{{"stage", "autonomy"},
                       {"tier", to_string(record.autonomy)},
                       {"source", record.autonomy_source},
                       {"approval_id", or_null(record.approval_id)},
                       {"guards", guards_json(record, true, reads)},
                       {"reached", !denied && record.autonomy_source != "not_weighed"}},
          json::object{
              {"stage", "effect"}, {"effect", to_string(record.effect_state)}, {"reached", ran}},
          json::object{{"stage", "second_door"},
                       {"result", reads ? record.post_invocation : json::value()},
                       {"guards", json::array()},
                       {"reached", answered}},
          json::object{{"stage", "outcome"},
                       {"outcome", to_string(record.outcome.kind)},
                       {"reason", reads ? json::value(record.outcome.text) : json::value()},
                       {"at", record.recorded_at},
                       {"sequence", record.sequence},
                       {"terminal", record.terminal}}};
}

}  // namespace sallyport::app
