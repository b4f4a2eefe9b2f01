#include "records/call_timeline.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/json_members.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLongestOutput = 16u << 10;

json::value or_null(const std::optional<std::string>& text) {
  return text ? json::value(*text) : json::value();
}

json::value member_or_null(const json::object& object, std::string_view name) {
  const auto text = text_in(object, name);
  return text ? json::value(*text) : json::value();
}

std::vector<const json::object*> objects_in(const json::object& object, std::string_view name) {
  std::vector<const json::object*> all;
  const json::value* const list = object.if_contains(name);
  if (list == nullptr || !list->is_array()) return all;
  for (const json::value& item : list->get_array()) {
    if (item.is_object()) all.push_back(&item.get_object());
  }
  return all;
}

std::string_view state_of(const OpenedEntry& entry, std::string_view path) {
  for (const ledger::Opening& opening : entry.openings) {
    if (opening.path != path) continue;
    if (opening.state == ledger::OpeningState::Erased) return "erased";
    return opening.state == ledger::OpeningState::Withheld ? "withheld" : "open";
  }
  return "open";
}

// An item without a path stands for removals that are not listed: they may be anywhere.
bool was_redacted(const AuditRecord& record, std::string_view member) {
  return std::ranges::any_of(record.redactions, [&](const Redaction& one) {
    std::string_view path = one.path;
    if (path.starts_with("/body/")) path.remove_prefix(5);
    return path.empty() || path.starts_with(member);
  });
}

// A guard that failed open has decided nothing.
bool refuses(const GuardRun& run) {
  return run.verdict == GuardVerdict::Deny ||
         (run.verdict == GuardVerdict::Error && run.why != "fail_open");
}

json::object guard_json(const GuardRun& run, bool decided, bool reads) {
  json::object step{{"guard", run.guard},        {"stage", run.stage},
                    {"pass", run.pass},          {"verdict", to_string(run.verdict)},
                    {"rule", or_null(run.rule)}, {"why", reads ? or_null(run.why) : json::value()},
                    {"us", run.duration_us}};
  if (run.verdict == GuardVerdict::Skipped) step["skipped"] = or_null(run.why);
  if (reads && run.evidence.is_object()) {
    const auto place = text_in(run.evidence.get_object(), "path");
    if (place) step["place"] = *place;
  }
  if (decided) step["decided"] = true;
  return step;
}

// The rules of the policy as one step, in the words of guards.
json::object rules_json(const json::object& rules, bool decided) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"refused", "deny"}, {"asks", "ask"}, {"allowed", "allow"}};
  const auto word = std::ranges::find(kWords, text_or_empty(rules, "verdict"),
                                      [](const auto& one) { return one.first; });
  json::object step{{"guard", "rules"},
                    {"stage", "rules"},
                    {"verdict", word != std::end(kWords) ? word->second : "not_applicable"},
                    {"rule", member_or_null(rules, "rule")}};
  if (const auto place = text_in(rules, "place")) step["place"] = *place;
  if (decided) step["decided"] = true;
  return step;
}

// Guards and rules in the order in which they ran. The one that refused decided, else the first
// that asked a person.
json::array first_door(const AuditRecord& record, const json::object* rules, bool reads) {
  const std::string rules_verdict = rules != nullptr ? text_or_empty(*rules, "verdict") : "";
  auto decided = std::ranges::find_if(record.guards, refuses);
  if (decided == record.guards.end() && rules_verdict != "refused") {
    decided = std::ranges::find(record.guards, GuardVerdict::Ask, &GuardRun::verdict);
  }
  const bool by_rules =
      decided == record.guards.end() && (rules_verdict == "refused" || rules_verdict == "asks");
  const auto is_outer = [](const GuardRun& run) {
    return run.stage == "pre_hook" || run.stage == "authorizer" || run.stage == "external";
  };
  json::array all;
  std::size_t inner = 0;  // rules run after these
  for (auto run = record.guards.begin(); run != record.guards.end(); ++run) {
    if (run->stage == "autonomy") continue;
    all.push_back(guard_json(*run, run == decided, reads));
    if (!is_outer(*run)) inner = all.size();
  }
  if (rules != nullptr) {
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(inner), rules_json(*rules, by_rules));
  }
  return all;
}

json::array autonomy_guards(const AuditRecord& record, bool reads) {
  json::array all;
  for (const GuardRun& run : record.guards) {
    if (run.stage == "autonomy") all.push_back(guard_json(run, refuses(run), reads));
  }
  return all;
}

// Adds the findings of a guard of results, from all its evidence.
void add_evidence(json::object& step, const json::object& door, bool reads) {
  std::string rules, details;
  const auto add = [](std::string& text, const std::string& more) {
    if (!more.empty()) text += (text.empty() ? "" : ", ") + more;
  };
  for (const json::object* const evidence : objects_in(door, "evidence")) {
    if (text_in(*evidence, "guard_name") != step.at("guard").as_string()) continue;
    add(rules, text_or_empty(*evidence, "rule"));
    add(details, text_or_empty(*evidence, "details"));
  }
  if (!rules.empty()) step["rule"] = rules;
  if (reads && !details.empty()) step["why"] = details;
}

json::array second_door(const json::object& door, bool reads) {
  json::array all;
  for (const json::object* const hook : objects_in(door, "hooks")) {
    const std::string state = text_or_empty(*hook, "state");
    json::object step{{"guard", text_or_empty(*hook, "guard")},
                      {"stage", "result"},
                      {"verdict", member_or_null(*hook, "verdict")},
                      {"rule", nullptr}};
    if (const json::value* const us = hook->if_contains("duration_us")) step["us"] = *us;
    if (state != "ran") step["skipped"] = text_in(*hook, "why").value_or(state);
    add_evidence(step, door, reads);
    if (text_in(door, "guard") == step.at("guard").as_string()) step["decided"] = true;
    all.push_back(std::move(step));
  }
  return all;
}

std::string_view shown_state(const AuditRecord& record, std::string_view member,
                             std::string_view state, bool reads) {
  if (!reads) return "withheld";
  return state == "open" && was_redacted(record, member) ? "redacted" : state;
}

// The output that the agent got, cut for the page.
json::object second_door_json(const AuditRecord& record, const OpenedEntry& stored, bool reads) {
  const json::object* const door = record.post_invocation.if_object();
  json::object stage{{"stage", "second_door"},
                     {"result", reads ? record.post_invocation : json::value()},
                     {"guards", door ? second_door(*door, reads) : json::array()},
                     {"reached", door != nullptr}};
  if (door == nullptr) return stage;
  stage["verdict"] = member_or_null(*door, "verdict");
  const std::string_view state = state_of(stored, "/body/outcome/result");
  const bool open = state == "open";
  if (open && !record.outcome.result) return stage;  // the agent got no output
  const std::string text = reads && open ? record.outcome.result->output : "";
  stage["output"] =
      reads && open ? json::value(cut_utf8_bytes(text, kLongestOutput)) : json::value();
  stage["output_bytes"] = text.size();
  stage["output_state"] = shown_state(record, "/outcome/result", state, reads);
  return stage;
}

}  // namespace

json::array call_timeline(const AuditRecord& record, const OpenedEntry& stored,
                          const api::Person& person) {
  const bool reads = person.reads_sealed();
  const json::object* const body = stored.body.if_object();
  const json::object* const rules = body ? object_in(*body, "rules") : nullptr;
  const bool denied = std::ranges::any_of(
      record.guards, [](const GuardRun& run) { return run.stage != "autonomy" && refuses(run); });
  const std::string_view input = state_of(stored, "/body/requested_input");
  const bool shows = reads && input == "open";
  const bool ran = record.effect_state != EffectState::None;
  return {json::object{{"stage", "asked"},
                       {"at", record.decided_at.empty() ? record.recorded_at : record.decided_at},
                       {"sequence", record.sequence},
                       {"input", shows ? record.requested_input : json::value()},
                       {"input_state", shown_state(record, "/requested_input", input, reads)}},
          json::object{{"stage", "first_door"},
                       {"class", record.effect_class},
                       {"class_source", record.class_source},
                       {"guards", first_door(record, rules, reads)}},
          json::object{{"stage", "autonomy"},
                       {"tier", to_string(record.autonomy)},
                       {"source", record.autonomy_source},
                       {"approval_id", or_null(record.approval_id)},
                       {"guards", autonomy_guards(record, reads)},
                       {"reached", !denied && record.autonomy_source != "not_weighed"}},
          json::object{
              {"stage", "effect"}, {"effect", to_string(record.effect_state)}, {"reached", ran}},
          second_door_json(record, stored, reads),
          json::object{{"stage", "outcome"},
                       {"outcome", to_string(record.outcome.kind)},
                       {"reason", reads ? json::value(record.outcome.text) : json::value()},
                       {"at", record.recorded_at},
                       {"sequence", record.sequence},
                       {"terminal", record.terminal}}};
}

}  // namespace sallyport::app
