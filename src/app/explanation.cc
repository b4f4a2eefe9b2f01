#include "app/explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "app/entry_text.h"
#include "app/output.h"
#include "app/terminal.h"
#include "base/json_members.h"
#include "base/visible_text.h"
#include "core/capability.h"

namespace sallyport::app {

namespace {

std::string source_of(const Classification& tool) {
  return tool.source.empty() ? "unknown" : tool.source;
}

// The guard or the tier that had the last word.
json::object decided_by(const core::Rehearsal& now) {
  const std::string_view verdict = verdict_of(now);
  for (const GuardRun& run : now.guard_runs) {
    const bool refuses = verdict == "refused" && (run.verdict == "deny" || run.verdict == "error");
    const bool asks = now.question && run.verdict == "ask" && now.tier == Autonomy::ActAuto;
    if (!refuses && !asks) continue;
    return {{"stage", run.stage},
            {"guard", run.guard},
            {"rule", run.rule ? json::value(*run.rule) : json::value()}};
  }
  if (verdict == "refused") {
    return {{"stage", "call"}, {"guard", nullptr}, {"rule", *now.refusal}};
  }
  return {{"stage", "autonomy"}, {"guard", nullptr}, {"rule", now.tier_source}};
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

json::value approval_json(const core::Rehearsal& now) {
  if (!now.question) return nullptr;
  const Question& question = *now.question;
  return json::object{{"kind", question.kind},
                      {"approvers_required", question.approvers_required},
                      {"reviewers", json::value_from(question.reviewers)},
                      {"deadline", question.expires_at},
                      {"use_within_s", now.use_within.count()},
                      {"proposal", question.proposal}};
}

json::value recorded_json(const Explained& explained) {
  if (!explained.then) return nullptr;
  const RecordedDecision& then = *explained.then;
  return json::object{{"sequence", then.sequence},
                      {"outcome", then.outcome},
                      {"reason", then.reason.empty() ? json::value() : json::value(then.reason)},
                      {"policy_hash", then.policy_hash},
                      {"same_policy", then.policy_hash == explained.now.policy_hash},
                      {"autonomy", then.tier},
                      {"autonomy_source", then.tier_source},
                      {"input_redacted", then.redacted}};
}

// What one guard said, on one line.
std::string guard_line(const GuardRun& run) {
  std::string line = fmt::format("{:<18} {}", visible(run.guard), run.verdict);
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
  say(fmt::format("{:<10} {}", name, text));
}

void say_tier(const core::Rehearsal& now) {
  if (!now.weighed && now.tier_steps.empty()) return row("tier", "not reached");
  row("tier", fmt::format("{}, from {}", to_string(now.tier), now.tier_source));
  for (const core::TierStep& step : now.tier_steps) {
    row("", fmt::format("{:<18} {}{}", step.source, to_string(step.tier),
                        step.about.empty() ? "" : fmt::format(" ({})", visible(step.about))));
  }
}

void say_approval(const core::Rehearsal& now) {
  if (!now.question) return;
  const Question& question = *now.question;
  row("asks", fmt::format("{}: {} of {}, until {}; a yes is good for {} s", question.kind,
                          question.approvers_required,
                          question.reviewers.empty()
                              ? "whoever is registered as approver"
                              : visible(fmt::format("{}", fmt::join(question.reviewers, ", "))),
                          question.expires_at, now.use_within.count()));
}

void say_recorded(const Explained& explained) {
  if (!explained.then) return;
  const RecordedDecision& then = *explained.then;
  row("recorded", fmt::format("entry {}: {}{}, tier {} from {}", then.sequence, then.outcome,
                              then.reason.empty() ? "" : fmt::format(" ({})", visible(then.reason)),
                              then.tier, visible(then.tier_source)));
  if (then.policy_hash != explained.now.policy_hash) {
    row("", "under another policy, " + then.policy_hash);
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
void say_rules(const core::Rehearsal& now) {
  if (!now.rules) return;
  const json::object& record = now.rules->record;
  const std::string_view verdict = text_in(record, "verdict").value_or("?");
  row("rules", now.rules->rule.empty() ? fmt::format("{}, by none", verdict)
                                       : fmt::format("{}, by `{}` at {}", verdict, now.rules->rule,
                                                     visible(now.rules->place)));
  if (!now.rules->text.empty()) row("", visible(now.rules->text));
  const auto each = [&](const char* list, const auto& say_one) {
    const json::value* const all = record.if_contains(list);
    if (all == nullptr || !all->is_array()) return;
    for (const json::value& one : all->get_array()) say_one(one.as_object());
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

std::string headline(const core::Rehearsal& now) {
  const std::string_view verdict = verdict_of(now);
  if (verdict == "runs") return "would run";
  if (verdict == "asks") return "would wait for a person";
  if (verdict == "proposed") return "would be proposed, and run once somebody approves it";
  return fmt::format("would not run: {}", visible(*now.refusal));
}

}  // namespace

json::object explanation_json(const Explained& explained) {
  const core::Rehearsal& now = explained.now;
  json::array guards;
  for (const GuardRun& run : now.guard_runs) {
    json::object one = to_json(run);
    one.erase("duration_us");
    guards.push_back(std::move(one));
  }
  json::array findings;
  for (const json::object& finding : now.findings) findings.push_back(finding);
  json::object out{
      {"verdict", verdict_of(now)},
      {"would_run", now.runs()},
      {"reason", now.refusal ? json::value(*now.refusal) : json::value()},
      {"decided_by", decided_by(now)},
      {"call", json::object{{"agent_id", now.call.agent_id},
                            {"session_id", now.call.session_id},
                            {"server", now.call.server},
                            {"tool", now.call.tool},
                            {"input", now.call.input}}},
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
      {"to_run", json::value_from(to_run(now))},
      {"recorded", recorded_json(explained)}};
  if (now.rules) out["rules"] = now.rules->record;
  return out;
}

void say_explanation(const Explained& explained) {
  const core::Rehearsal& now = explained.now;
  say(headline(now));
  row("call",
      fmt::format("{}{} by {}", with_lookalikes(visible(now.call.tool)),
                  now.call.server.empty() ? "" : fmt::format(" of {}", visible(now.call.server)),
                  visible(now.call.agent_id)));
  row("input", with_lookalikes(pretty_json(now.call.input, 11)));
  if (now.rewritten) row("", "as guards rewrote it");
  row("policy", fmt::format("{}, {}", visible(explained.policy), now.policy_hash));
  if (!explained.policy_note.empty()) row("", visible(explained.policy_note));
  row("class",
      fmt::format("{}, {}, said by: {}", to_string(now.classification.tier),
                  visible(now.classification.effect_class), source_of(now.classification)));
  std::string_view name = "guards";
  for (const GuardRun& run : now.guard_runs) row(std::exchange(name, ""), guard_line(run));
  name = "found";
  for (const json::object& finding : now.findings)
    row(std::exchange(name, ""), finding_line(finding));
  say_rules(now);
  say_tier(now);
  say_approval(now);
  say_recorded(explained);
  name = "to run";
  for (const std::string& remedy : to_run(now)) row(std::exchange(name, ""), visible(remedy));
}

}  // namespace sallyport::app
