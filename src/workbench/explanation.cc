#include "workbench/explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/visible_text.h"
#include "core/plan/capability.h"
#include "records/entry_text.h"
#include "terminal/output.h"
#include "terminal/terminal.h"

namespace sallyport::app {

namespace {

std::string source_of(const Classification& tool) {
  return tool.source.empty() ? "unknown" : tool.source;
}

// The guard or the tier that had the last word, and where the policy says so.
json::object decided_by(const Explained& explained) {
  const core::Rehearsal& now = explained.now;
  const CallVerdict verdict = explained.verdict();
  const Cause& decider = explained.decider;
  json::object by{{"stage", "autonomy"}, {"guard", nullptr}, {"rule", now.tier_source}};
  const auto guard = std::ranges::find_if(now.guard_runs, [&](const GuardRun& run) {
    const bool refuses = verdict == CallVerdict::Refused &&
                         (run.verdict == GuardVerdict::Deny || run.verdict == GuardVerdict::Error);
    return refuses ||
           (now.question && run.verdict == GuardVerdict::Ask && now.tier == Autonomy::ActAuto);
  });
  if (decider.kind == CauseKind::Rule || decider.kind == CauseKind::Unlisted) {
    by = {{"stage", "rules"}, {"guard", nullptr}, {"rule", decider.name}};
  } else if (guard != now.guard_runs.end()) {
    by = {{"stage", guard->stage},
          {"guard", guard->guard},
          {"rule", guard->rule ? json::value(*guard->rule) : json::value()}};
  } else if (verdict == CallVerdict::Refused) {
    by = {{"stage", "call"}, {"guard", nullptr}, {"rule", *now.refusal}};
  }
  by["kind"] = to_string(decider.kind);
  by["name"] = decider.name;
  by["place"] = decider.place.empty() ? json::value() : json::value(decider.place);
  return by;
}

json::array causes_json(const Explained& explained) {
  json::array causes;
  for (const Cause& cause : explained.causes) {
    causes.push_back(
        json::object{{"kind", to_string(cause.kind)},
                     {"name", cause.name},
                     {"place", cause.place.empty() ? json::value() : json::value(cause.place)},
                     {"verdict", to_string(cause.verdict)},
                     {"text", cause.text}});
  }
  return causes;
}

json::array changes_json(const Explained& explained) {
  json::array changes;
  for (const Change& change : explained.changes) {
    json::array edits;
    for (const EditText& edit : change.edits) {
      edits.push_back(
          json::object{{"place", edit.place.empty() ? json::value() : json::value(edit.place)},
                       {"text", edit.text}});
    }
    changes.push_back(json::object{{"kind", to_string(change.kind)},
                                   {"edits", std::move(edits)},
                                   {"verdict", to_string(change.verdict)}});
  }
  return changes;
}

json::array holes_json(const Explained& explained) {
  json::array holes;
  for (const Hole& hole : explained.holes) {
    holes.push_back(json::object{{"path", hole.path},
                                 {"category", hole.category},
                                 {"detector", hole.detector},
                                 {"digest", hole.digest},
                                 {"whole", hole.whole}});
  }
  return holes;
}

// One line for each change, in the order in which they were found.
std::string change_line(const Change& change) {
  std::string line;
  for (const EditText& edit : change.edits) {
    if (!line.empty()) line += "; ";
    if (!edit.place.empty()) line += edit.place + "  ";
    line += edit.text;
  }
  return line;
}

json::object policy_json(const Explained& explained) {
  json::object object{{"name", explained.policy}, {"hash", explained.now.policy_hash}};
  if (!explained.policy_note.empty()) object["note"] = explained.policy_note;
  return object;
}

json::array steps_json(const core::Rehearsal& now) {
  json::array steps;
  for (const core::TierStep& step : now.tier_steps) {
    json::object one{{"source", step.source}, {"tier", to_string(step.tier)}};
    if (!step.about.empty()) one["about"] = step.about;
    steps.push_back(std::move(one));
  }
  return steps;
}

json::object call_json(const Call& call) {
  return {{"agent_id", call.agent_id}, {"session_id", call.session_id}, {"server", call.server},
          {"tool", call.tool},         {"front", call.setting.front},   {"input", call.input}};
}

json::value approval_json(const core::Rehearsal& now) {
  if (!now.question) return nullptr;
  const Question& question = *now.question;
  return json::object{{"kind", to_string(question.kind)},
                      {"approvers_required", question.approvers_required},
                      {"reviewers", json::value_from(question.reviewers)},
                      {"deadline", question.expires_at},
                      {"use_within_s", now.use_within.count()},
                      {"proposal", question.proposal}};
}

json::value recorded_json(const Explained& explained) {
  if (!explained.then) return nullptr;
  const RecordedDecision& then = *explained.then;
  return json::object{
      {"sequence", then.sequence},
      {"outcome", then.outcome},
      {"reason", then.reason.empty() ? json::value() : json::value(then.reason)},
      {"policy_hash", then.policy_hash},
      {"same_policy", then.policy_hash == explained.now.policy_hash},
      {"autonomy", then.tier},
      {"autonomy_source", then.tier_source},
      {"verdict", to_string(then.verdict)},
      {"reproduced", then.reproduced ? json::value(*then.reproduced) : json::value()},
      {"input_redacted", then.redacted}};
}

// The verdict of one guard, on one line.
std::string guard_line(const GuardRun& run) {
  std::string line = fmt::format("{:<18} {}", visible(run.guard), to_string(run.verdict));
  if (run.rule) line += fmt::format(" by {}", visible(*run.rule));
  if (run.why) line += fmt::format(" ({})", visible(*run.why));
  const json::object* const evidence = run.evidence.if_object();
  if (evidence == nullptr) return line;
  if (const auto why = text_in(*evidence, "why")) line += fmt::format(": {}", visible(*why));
  if (const json::value* const ran = evidence->if_contains("ran"); ran && ran->is_array()) {
    const std::size_t count = ran->get_array().size();
    line += fmt::format(", {} check{} ran", count, count == 1 ? "" : "s");
  }
  if (const auto index = number_in(*evidence, "matched_grant_index")) {
    line += fmt::format(", grant {} matches", *index);
  }
  return line;
}

std::string finding_line(const json::object& finding) {
  std::string line =
      fmt::format("check `{}` would {}", visible(text_in(finding, "check").value_or("?")),
                  visible(text_in(finding, "action").value_or("note")));
  if (const auto excerpt = text_in(finding, "excerpt")) {
    line += fmt::format(": `{}`", visible(*excerpt));
  }
  if (const auto path = text_in(finding, "path")) line += fmt::format(" at {}", visible(*path));
  return line;
}

void row(std::string_view name, const std::string& text) {
  print_line(fmt::format("{:<10} {}", name, text));
}

void print_tier(const core::Rehearsal& now) {
  if (!now.weighed && now.tier_steps.empty()) return row("tier", "not reached");
  row("tier", fmt::format("{}, from {}", to_string(now.tier), now.tier_source));
  for (const core::TierStep& step : now.tier_steps) {
    row("", fmt::format("{:<18} {}{}", step.source, to_string(step.tier),
                        step.about.empty() ? "" : fmt::format(" ({})", visible(step.about))));
  }
}

void print_approval(const core::Rehearsal& now) {
  if (!now.question) return;
  const Question& question = *now.question;
  row("asks", fmt::format("{}: {} of {}, until {}; a yes is good for {} s",
                          to_string(question.kind), question.approvers_required,
                          question.reviewers.empty()
                              ? "the registered approvers"
                              : visible(fmt::format("{}", fmt::join(question.reviewers, ", "))),
                          question.expires_at, now.use_within.count()));
}

void print_recorded(const Explained& explained) {
  if (!explained.then) return;
  const RecordedDecision& then = *explained.then;
  row("recorded", fmt::format("entry {}: {}{}, tier {} from {}", then.sequence, then.outcome,
                              then.reason.empty() ? "" : fmt::format(" ({})", visible(then.reason)),
                              then.tier, visible(then.tier_source)));
  if (then.policy_hash != explained.now.policy_hash) {
    row("", "under another policy, " + then.policy_hash);
  }
  if (then.reproduced) {
    row("", *then.reproduced ? "the same when it is decided again"
                             : fmt::format("recorded as `{}`, which this does not explain",
                                           to_string(then.verdict)));
  }
  if (then.redacted) row("", "secrets were taken out of the input before it was recorded");
}

std::string effect_line(const json::object& effect) {
  std::string line = visible(text_in(effect, "class").value_or("?"));
  for (const auto& member : effect) {
    const std::string_view name = member.key();
    if (name == "class") continue;
    const json::value& value = member.value();
    line += fmt::format(", {} {}", name,
                        value.is_string() ? visible(std::string_view(value.get_string()))
                                          : visible(json::serialize(value)));
  }
  return line;
}

// The deciding rule with its place, every match, all effects and what could not be looked into.
void print_rules(const core::Rehearsal& now) {
  if (!now.rules) return;
  const json::object& record = now.rules->record;
  const std::string_view verdict = text_in(record, "verdict").value_or("?");
  row("rules", now.rules->rule.empty() ? fmt::format("{}, by none", verdict)
                                       : fmt::format("{}, by `{}` at {}", verdict, now.rules->rule,
                                                     visible(now.rules->place)));
  if (!now.rules->text.empty()) row("", visible(now.rules->text));
  const auto each = [&](const char* list, const auto& print_one) {
    const json::value* const all = record.if_contains(list);
    if (all == nullptr || !all->is_array()) return;
    for (const json::value& one : all->get_array()) print_one(one.as_object());
  };
  each("matches", [](const json::object& match) {
    row("",
        fmt::format("{} would {}: {}", text_in(match, "rule").value_or("?"),
                    text_in(match, "then").value_or("?"), text_in(match, "match").value_or("?")));
  });
  std::string_view name = "effects";
  each("effects",
       [&](const json::object& effect) { row(std::exchange(name, ""), effect_line(effect)); });
  each("opaque", [](const json::object& span) {
    row("", fmt::format("cannot be looked into: {}, bytes {} to {}",
                        text_in(span, "reason").value_or("?"), number_in(span, "start").value_or(0),
                        number_in(span, "end").value_or(0)));
  });
}

// A code that the line already names is replaced by what the guard says about it.
std::string refusal_in_words(const Explained& explained) {
  const std::string& refusal = *explained.now.refusal;
  if (refusal != explained.decider.name) return refusal;
  for (const GuardRun& run : explained.now.guard_runs) {
    const json::object* const evidence = run.evidence.if_object();
    if (evidence == nullptr || text_in(*evidence, "code") != refusal) continue;
    if (const auto why = text_in(*evidence, "why")) return std::string(*why);
  }
  return refusal;
}

std::string headline(const Explained& explained) {
  if (explained.undecided) {
    return fmt::format("undecided: {}; {}", explained.undecided->reason,
                       visible(explained.undecided->text));
  }
  const Cause& by = explained.decider;
  std::string line = fmt::format("{} by {}", to_string(explained.verdict()), to_string(by.kind));
  if (!by.name.empty()) line += fmt::format(" `{}`", visible(by.name));
  if (!by.place.empty()) line += ", " + visible(by.place);
  if (!explained.now.refusal) return line;
  return line + ": " + visible(refusal_in_words(explained));
}

void print_causes(const Explained& explained) {
  std::string_view name = "causes";
  for (const Cause& cause : explained.causes) {
    std::string line = fmt::format("{} `{}`", to_string(cause.kind), visible(cause.name));
    if (!cause.place.empty()) line += ", " + visible(cause.place);
    line += fmt::format(": {}", to_string(cause.verdict));
    if (!cause.text.empty()) line += fmt::format(" ({})", visible(cause.text));
    row(std::exchange(name, ""), line);
  }
  name = "changes";
  for (const Change& change : explained.changes) {
    row(std::exchange(name, ""),
        fmt::format("{:<7} {}  tried: {}", to_string(change.kind), visible(change_line(change)),
                    to_string(change.verdict)));
  }
}

void print_holes(const Explained& explained) {
  std::string_view name = "holes";
  for (const Hole& hole : explained.holes) {
    row(std::exchange(name, ""),
        fmt::format("{} lost {}{}", visible(hole.path.empty() ? "the input" : hole.path),
                    hole.detector.empty() ? hole.category : hole.detector,
                    explained.undecided ? "" : "; the verdict does not depend on it"));
  }
}

}  // namespace

json::object explanation_json(const Explained& explained) {
  const core::Rehearsal& now = explained.now;
  if (explained.undecided) {
    return {{"verdict", to_string(explained.verdict())},
            {"would_run", false},
            {"reason", explained.undecided->reason},
            {"missing", explained.undecided->missing},
            {"text", explained.undecided->text},
            {"decided_by", nullptr},
            {"causes", json::array()},
            {"changes", json::array()},
            {"holes", holes_json(explained)},
            {"call", call_json(now.call)},
            {"policy", policy_json(explained)},
            {"recorded", recorded_json(explained)}};
  }
  json::array guards;
  for (const GuardRun& run : now.guard_runs) {
    json::object one = to_json(run);
    one.erase("duration_us");
    guards.push_back(std::move(one));
  }
  json::array findings;
  for (const json::object& finding : now.findings) findings.push_back(finding);
  json::object out{
      {"verdict", to_string(explained.verdict())},
      {"would_run", explained.verdict() == CallVerdict::Runs},
      {"reason", now.refusal ? json::value(*now.refusal) : json::value()},
      {"decided_by", decided_by(explained)},
      {"causes", causes_json(explained)},
      {"changes", changes_json(explained)},
      {"holes", holes_json(explained)},
      {"call", call_json(now.call)},
      {"input_rewritten", now.rewritten},
      {"policy", policy_json(explained)},
      {"classification",
       json::object{{"tier", to_string(now.classification.tier)},
                    {"class", now.classification.effect_class},
                    {"capability", core::capability_of(now.classification.effect_class)},
                    {"source", source_of(now.classification)}}},
      {"matched_grant_index", now.grant ? json::value(now.grant->index) : json::value()},
      {"guards", std::move(guards)},
      {"findings", std::move(findings)},
      {"autonomy", json::object{{"tier", to_string(now.tier)},
                                {"source", now.tier_source},
                                {"reached", now.weighed},
                                {"steps", steps_json(now)}}},
      {"approval", approval_json(now)},
      {"recorded", recorded_json(explained)}};
  if (now.rules) out["rules"] = now.rules->record;
  return out;
}

void print_explanation(const Explained& explained) {
  const core::Rehearsal& now = explained.now;
  print_line(headline(explained));
  row("call",
      fmt::format("{}{} by {}", with_lookalikes(visible(now.call.tool)),
                  now.call.server.empty() ? "" : fmt::format(" of {}", visible(now.call.server)),
                  visible(now.call.agent_id)));
  row("input", with_lookalikes(pretty_json(now.call.input, 11)));
  if (now.rewritten) row("", "as guards rewrote it");
  row("policy", fmt::format("{}, {}", visible(explained.policy), now.policy_hash));
  if (!explained.policy_note.empty()) row("", visible(explained.policy_note));
  print_holes(explained);
  if (explained.undecided) return print_recorded(explained);
  row("class",
      fmt::format("{}, {}, from: {}", to_string(now.classification.tier),
                  visible(now.classification.effect_class), source_of(now.classification)));
  std::string_view name = "guards";
  for (const GuardRun& run : now.guard_runs) row(std::exchange(name, ""), guard_line(run));
  name = "found";
  for (const json::object& finding : now.findings)
    row(std::exchange(name, ""), finding_line(finding));
  print_rules(now);
  print_tier(now);
  print_approval(now);
  print_causes(explained);
  print_recorded(explained);
}

}  // namespace sallyport::app
