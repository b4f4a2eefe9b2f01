#include "core/call/first_door.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/race.h"
#include "base/shielded.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/approval/approval_request.h"
#include "core/approval/hidden_parts.h"
#include "core/call/asking.h"
#include "core/call/call_preview.h"
#include "core/call/decision.h"
#include "core/call/not_run.h"
#include "core/call/pending_call.h"
#include "core/call/preparing.h"
#include "core/call/session_workspace.h"
#include "core/call/waiting_facts.h"
#include "core/event/topic_event.h"

namespace sallyport::core {

namespace {

Result<json::value> structured_input(const Upstream& upstream, const Call& call) {
  SALLYPORT_TRY(Result<json::value> structured,
                shielded("the tool's preview", [&] { return upstream.structured_input(call); }));
  if (structured) SALLYPORT_CHECK_OK(check_json(*structured));
  return structured;
}

// Numbers that a double cannot hold are shown as the text that came.
bool call_is_exact(const Call& call) {
  return !call.raw_input.has_value();
}

std::optional<std::string> replay_of(const Trail& trail) {
  return trail.replay_of.empty() ? std::nullopt : std::optional(trail.replay_of);
}

constexpr std::string_view kSceneSpace = "scene";
constexpr std::string_view kExpiredSpace = "rule_expired";

// The workspace of a session is what its first call says, whatever later ones say (RU-36).
void pin_workspace(Trail& trail) {
  bool pins = false;
  trail.workspace = session_workspace(trail.call(), *trail.facts, &pins);
  std::erase_if(trail.closing_facts,
                [](const Fact& fact) { return fact.space == kWorkspaceSpace; });
  if (!pins) return;
  trail.closing_facts.push_back({std::string(kWorkspaceSpace), workspace_key(trail.call()),
                                 canonical_json(json::value_from(trail.workspace))});
}

// What rules look at beside the call and its session: folder, workspace, server. An entry of its
// own, once for each that differs, so that the call can be judged again (WB-8); the record of the
// call has its digest.
void note_scene(Trail& trail) {
  const CallSetting& setting = trail.call().setting;
  const UpstreamFacts& upstream = trail.upstream;
  json::object scene;
  if (!setting.folder.empty()) scene["cwd"] = setting.folder;
  if (!trail.workspace.empty()) scene["workspace"] = json::value_from(trail.workspace);
  if (setting.interactive) scene["interactive"] = true;
  if (!upstream.command.empty()) scene["command"] = json::value_from(upstream.command);
  if (upstream.read_only_hint) scene["read_only_hint"] = *upstream.read_only_hint;
  if (upstream.definition_changed) scene["definition_changed"] = true;
  if (upstream.remote_files) scene["remote_files"] = true;
  // Short: it tells few scenes of one folder apart, and proves nothing.
  std::string digest =
      trail.digest(canonical_json(scene)).substr(std::string_view("hmac-sha256:").size(), 16);
  if (trail.scene == digest) return;  // noted when the call was decided before
  trail.scene = std::move(digest);
  const auto known = trail.facts->fact(kSceneSpace, trail.scene);
  if (!known || *known) return;
  Draft draft{.kind = Kind::Topic,
              .subject = {.policy_hash = trail.plan().hash()},
              .topic = "scenes",
              .body = {{"record", "scene"}, {"scene", trail.scene}, {"details", std::move(scene)}}};
  draft.facts.push_back({std::string(kSceneSpace), trail.scene, "", true});
  trail.rows.push_back(std::move(draft));
}

// What rules say beside their verdict: items of the queue, and that they have expired (RU-19,
// RU-20).
void note_rules(Trail& trail, RecordReader& records) {
  for (const RuleItem& item : trail.rules->items) {
    const std::string rule = "rule " + item.rule;
    trail.escalations.push_back({rule, escalation_text(rule, item.message)});
  }
  for (const std::string& rule : trail.rules->expired) {
    const std::string key = canonical_json(json::array{trail.plan().hash(), rule});
    const auto told = records.fact(kExpiredSpace, key);
    if (!told || *told) continue;
    Draft draft{.kind = Kind::Topic,
                .subject = trail.subject(),
                .topic = "rules",
                .body = {{"record", "rule_expired"}, {"rule", rule}}};
    draft.facts.push_back({std::string(kExpiredSpace), key, "told"});
    trail.rows.push_back(std::move(draft));
  }
}

bool rules_ask(const Trail& trail) {
  return trail.rules && trail.rules->verdict == RuleAnswer::Verdict::Asks;
}

RuleSay say_of(const Trail& trail) {
  if (!trail.rules) return RuleSay::Nothing;
  if (rules_ask(trail)) return RuleSay::Asks;
  return trail.rules->verdict == RuleAnswer::Verdict::Allowed ? RuleSay::Allows : RuleSay::Nothing;
}

// What the tiers see: a call whose effects are all free is not tiered (RU-5).
Classification untiered(const Trail& trail) {
  Classification seen = trail.classification();
  if (!trail.is_tiered()) seen.tier = Tier::Observe;
  return seen;
}

// What is known of the tool and the session before any guard looks at the call.
void look_around(Trail& trail, const Upstream& upstream) {
  if (upstream.raises_caution()) trail.raise_caution();
  trail.tool_definition(upstream.definition());
  if (!trail.plan().rules() && !trail.plan().asks_outside()) return;
  trail.upstream = upstream.facts();
  pin_workspace(trail);
  note_scene(trail);
}

// Notes of a decision that does not hold. Events stay: hooks have heard them.
void drop_notes(Trail& trail, std::size_t from) {
  if (trail.rows.size() <= from) return;
  const auto first = trail.rows.begin() + static_cast<std::ptrdiff_t>(from);
  trail.rows.erase(
      std::remove_if(first, trail.rows.end(),
                     [](const Trail::Row& row) { return std::holds_alternative<Draft>(row); }),
      trail.rows.end());
}

// How often a decision is made again because others changed what it was made of.
constexpr unsigned kMostMoments = 8;

}  // namespace

Async<void> FirstDoor::authorize(Trail& trail, const std::shared_ptr<Upstream>& upstream,
                                 const std::stop_token& cancel) {
  trail.facts.emplace(parts_.recorder);
  trail.decided_at = rfc3339(parts_.clock.wall());
  look_around(trail, *upstream);
  if (const Result<void> ready = parts_.recorder.ready(); !ready) {
    // Nothing was announced, so hooks are not told.
    trail.refuse({"event sink failed: audit: " + ready.error().message, Refusal::By::Listener});
    trail.needs_person = false;
    trail.as_of = trail.facts->as_of();
    list_unreached(trail);
    co_return;
  }
  std::string folder = upstream->working_directory();
  if (folder.empty()) folder = trail.call().setting.folder;
  Preview preview = preview_of(trail.call(), trail.classification(), std::move(folder));
  const Result<json::value> structured = structured_input(*upstream, trail.call());
  if (structured)
    preview.structured_input = call_is_exact(trail.call()) ? *structured : preview.raw_input;
  const Call& call = trail.call();
  const Event started =
      event::ToolAuthorizationStarted{call.agent_id, call.tool, call.tool_call_id, preview};
  trail.rows.push_back(started);
  const Result<void> told = co_await events_.tell(trail, started);
  if (!told) {
    trail.refuse({told.error().message, Refusal::By::Listener});
  } else if (!upstream->known()) {
    trail.refuse({fmt::format("unknown tool `{}`", call.tool)});
  } else if (!structured) {
    trail.refuse(
        {"the call cannot be previewed: " + structured.error().message, Refusal::By::Tool});
  }
  // What guards may change later is judged as it came: it is the agent that hides something.
  if (!trail.consent && may_hold_command(trail.call().input, trail.classification())) {
    trail.note(redacted_commands(
        hidden_parts(parts_.redactor, trail.call().input, trail.classification())));
  }
  if (trail.open()) {
    co_await decide_at_one_moment(trail, preview, upstream, cancel);
  } else if (trail.guard_runs.empty()) {
    list_unreached(trail);
  }
  if (!trail.open() && !trail.weighed) {
    trail.autonomy_source = "not_weighed";  // refused before a tier was asked for
  }
  trail.as_of = trail.facts->as_of();
  co_await tell_decision(trail);
}

// The decision is made of facts of one moment, so that it can be made again (WB-8): where others
// changed one of them meanwhile, all that were asked for are read again, and it is made anew.
Async<void> FirstDoor::decide_at_one_moment(Trail& trail, const Preview& preview,
                                            const std::shared_ptr<Upstream>& upstream,
                                            const std::stop_token& cancel) {
  for (unsigned moments = 1;; ++moments) {
    const std::size_t noted = trail.rows.size();
    const std::size_t steps = trail.tier_steps ? trail.tier_steps->size() : 0;
    co_await judge_call(trail, preview, upstream, cancel);
    if (trail.open() && trail.rules) note_rules(trail, parts_.recorder);
    if (trail.open()) weigh_autonomy(trail);
    if (!trail.facts->torn()) co_return;
    if (moments == kMostMoments || cancel.stop_requested()) {
      trail.refuse({"what decides about this call changes while it is decided; try again"});
      co_return;
    }
    drop_notes(trail, noted);
    if (trail.tier_steps) trail.tier_steps->resize(steps);
    trail.decide_again(trail.shared_plan());
    if (const Result<void> read = trail.facts->read_again(); !read) {
      trail.refuse({"what decides about this call cannot be read: " + read.error().message});
      co_return;
    }
    look_around(trail, *upstream);
  }
}

Async<void> FirstDoor::judge_call(Trail& trail, const Preview& preview,
                                  const std::shared_ptr<Upstream>& upstream,
                                  const std::stop_token& cancel) {
  if (trail.prepared()) {
    if (const auto over = expired(*trail.prepared(), parts_.clock.wall())) {
      trail.refuse({*over, Refusal::By::Preparation});
      co_return;
    }
  }
  co_await decide(trail, preview, parts_.clock, cancel);
  if (!trail.open() || trail.prepared() || upstream->preparing() == nullptr) co_return;
  if (!recall_preparation(trail)) {
    std::optional<Event> denied = co_await prepare(trail, upstream, parts_.clock, cancel);
    if (denied) co_await events_.report(trail, std::move(*denied));
  }
  // What will run is what was prepared, so that is decided about too.
  if (trail.open()) co_await decide(trail, preview, parts_.clock, cancel);
}

// A prepared operation that outlived the process that had it in hand is executed, not prepared
// again (AU-78).
bool FirstDoor::recall_preparation(Trail& trail) {
  const std::string key = idempotency_.key(trail.call());
  if (key.empty()) return false;
  const Result<std::optional<Idempotency::Row>> row = idempotency_.row(key);
  if (!row || !*row || (*row)->status != Idempotency::Status::Unknown) return false;
  if ((*row)->request_digest != trail.request_digest()) return false;
  std::optional<Prepared> prepared = kept_preparation(parts_.recorder, key);
  if (!prepared) return false;
  trail.prepared(std::move(*prepared), true);
  trail.recalled = true;
  return true;
}

// What a tier is asked of, and what the answer carries with it.
void FirstDoor::find_tier(Trail& trail) const {
  const std::optional<Autonomy> ceiling = trail.grant ? trail.grant->ceiling : std::nullopt;
  trail.spending.reset();
  if (const AutonomyRules* const rules = trail.plan().rules_for(trail.call())) {
    AutonomyAnswer answer =
        rules->weigh({.call = trail.call(),
                      .classification = untiered(trail),
                      .grant_ceiling = ceiling,
                      .steps = trail.tier_steps,
                      .people = trail.plan().approvals().people.get(),
                      .rules = say_of(trail)},
                     // A budget counts by the time that the record says (WB-10).
                     *trail.facts, *from_rfc3339(trail.decided_at));
    trail.autonomy = answer.tier;
    trail.autonomy_source = std::move(answer.source);
    trail.needs_human = answer.needs_human;
    trail.spending = std::move(answer.spending);
    trail.scopes = std::move(answer.bounds);
    if (!answer.refusal.empty()) trail.refuse({std::move(answer.refusal)});
    for (Draft& event : answer.events) trail.rows.push_back(std::move(event));
    return;
  }
  if (trail.tier_steps) trail.tier_steps->push_back({trail.autonomy_source, trail.autonomy, {}});
  const bool lifted =
      say_of(trail) == RuleSay::Allows && trail.autonomy >= Autonomy::ActWithApproval;
  const bool capped = say_of(trail) == RuleSay::Asks && trail.autonomy == Autonomy::ActAuto;
  if (lifted || capped) {
    trail.autonomy = lifted ? Autonomy::ActAuto : Autonomy::ActWithApproval;
    trail.autonomy_source = "rule";
    if (trail.tier_steps) trail.tier_steps->push_back({"rule", trail.autonomy, {}});
  }
  if (trail.tier_steps && ceiling) trail.tier_steps->push_back({"grant", *ceiling, {}});
  if (ceiling && *ceiling < trail.autonomy) {
    trail.autonomy = *ceiling;
    trail.autonomy_source = "grant";
  }
}

// What would have run, for readers of the outbox (LG-8).
void propose(Trail& trail) {
  const Call& call = trail.call();
  trail.rows.push_back(dispatch_proposed({.about = {.agent = call.agent_id,
                                                    .trace_id = call.trace_id,
                                                    .autonomy_tier = trail.autonomy},
                                          .action = trail.classification().effect_class,
                                          .tool = call.tool,
                                          .effect_class = trail.classification().effect_class,
                                          .input = call.input,
                                          .replay_of_event_id = replay_of(trail),
                                          .call_id = call.call_id,
                                          .approval_request_id = trail.approval_id}));
}

void FirstDoor::weigh_autonomy(Trail& trail) const {
  find_tier(trail);
  if (!trail.open()) return;
  const bool confirm = trail.is_tiered();
  trail.weighed = trail.weighed || confirm;
  if (confirm && trail.autonomy == Autonomy::Shadow) {
    propose(trail);
    trail.refuse({"shadow: " + trail.call().tool + " was not run", Refusal::By::Autonomy});
    return;
  }
  const bool asks =
      trail.question || rules_ask(trail) || (confirm && trail.autonomy != Autonomy::ActAuto);
  if (std::optional<std::string> why = asks ? trail.no_reviewers() : std::nullopt) {
    trail.refuse({std::move(*why)});
    return;
  }
  trail.needs_person =
      asks && !(trail.consent && trail.consent->call_digest == trail.call_digest());
}

// One finish for each start, with the same reason in all that speak of it (EV-33..EV-39).
Async<void> FirstDoor::tell_decision(Trail& trail) {
  const Call& call = trail.call();
  using event::Authorization;
  Authorization outcome = Authorization::Allow;
  std::optional<std::string> reason;
  if (!trail.open()) {
    trail.needs_person = false;
    outcome = Authorization::Deny;
    reason = trail.refusal()->reason;
    if (trail.refusal()->by == Refusal::By::Plan) {
      co_await events_.report(trail, event::PolicyDenied{call.agent_id, call.tool, *reason});
    } else if (trail.refusal()->by == Refusal::By::Hook) {
      co_await events_.report(
          trail, event::ToolExecutionBlocked{call.agent_id, call.tool, call.tool_call_id, *reason});
    }
  } else if (trail.needs_person) {
    outcome = Authorization::Prompt;
    reason = describe(trail);
  }
  co_await events_.report(trail, event::ToolAuthorizationFinished{
                                     call.agent_id, call.tool, call.tool_call_id, outcome, reason});
  if (outcome == Authorization::Allow) co_return;
  co_await events_.report(trail, event::ToolAuthorizationBlocked{
                                     call.agent_id, call.tool, call.tool_call_id, outcome, reason});
}

}  // namespace sallyport::core
