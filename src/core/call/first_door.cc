#include "core/call/first_door.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/shielded.h"
#include "base/try.h"
#include "core/approval/hidden_parts.h"
#include "core/call/asking.h"
#include "core/call/preparing.h"
#include "core/decision/session_workspace.h"
#include "core/result/call_preview.h"

namespace sallyport::core {

namespace {

Result<json::value> structured_input(const Upstream& upstream, const Call& call) {
  SALLYPORT_TRY(Result<json::value> structured,
                shielded("the tool's preview", [&] { return upstream.structured_input(call); }));
  if (structured) SALLYPORT_CHECK_OK(check_json(*structured));
  return structured;
}

// Numbers that a double cannot hold are shown as the original text.
bool call_is_exact(const Call& call) {
  return !call.raw_input.has_value();
}

constexpr std::string_view kSceneSpace = "scene";

// The first call of a session sets its workspace; later calls do not change it (RU-36).
void pin_workspace(Trail& trail, DecisionFacts& facts) {
  bool pins = false;
  (void)session_workspace(trail.call(), facts, &pins);
  std::erase_if(trail.closing_facts,
                [](const Fact& fact) { return fact.space == kWorkspaceSpace; });
  if (!pins) return;
  trail.closing_facts.push_back({std::string(kWorkspaceSpace), workspace_key(trail.call()),
                                 canonical_json(json::value_from(trail.workspace))});
}

// The other inputs of the rules: folder, workspace, server. Each different set is one entry, so
// that the call can be judged again (WB-8). The record of the call has its digest.
void note_scene(Trail& trail, DecisionFacts& facts) {
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
  // Short: it distinguishes few scenes of one folder and proves nothing.
  std::string digest =
      trail.digest(canonical_json(scene)).substr(std::string_view("hmac-sha256:").size(), 16);
  if (trail.scene == digest) return;  // noted when the call was decided before
  trail.scene = std::move(digest);
  const auto known = facts.fact(kSceneSpace, trail.scene);
  if (!known || *known) return;
  Draft draft{.kind = Kind::Topic,
              .subject = Subject{.policy_hash = trail.plan().hash()},
              .topic = "scenes",
              .body = {{"record", "scene"}, {"scene", trail.scene}, {"details", std::move(scene)}}};
  draft.facts.push_back({std::string(kSceneSpace), trail.scene, "", true});
  trail.rows.push_back(std::move(draft));
}

// True if the plan uses the scene of a call: folder, workspace, server.
bool looks_around(const Plan& plan) {
  return plan.rules() || plan.asks_outside();
}

// Collects the facts about the tool and the session before any guard judges the call.
void look_around(Decision& decision, const Upstream& upstream, DecisionFacts& facts) {
  if (upstream.raises_caution()) decision.raise_caution();
  decision.tool_definition(upstream.definition());
  if (!looks_around(decision.plan())) return;
  decision.upstream = upstream.facts();
  decision.workspace = session_workspace(decision.call(), facts);
}

void note_surroundings(Trail& trail, DecisionFacts& facts) {
  if (!looks_around(trail.plan())) return;
  pin_workspace(trail, facts);
  note_scene(trail, facts);
}

// Drops the rows of a void decision. Events stay, because hooks were already notified.
void drop_notes(Trail& trail, std::size_t from) {
  const auto first = trail.rows.begin() + static_cast<std::ptrdiff_t>(from);
  trail.rows.erase(std::remove_if(first, trail.rows.end(),
                                  [](const Draft& row) { return row.kind != Kind::Event; }),
                   trail.rows.end());
}

// How often a decision is repeated because other processes changed its facts.
constexpr unsigned kMostMoments = 8;

}  // namespace

Circumstances FirstDoor::look(Decision& decision, const Upstream& upstream,
                              DecisionFacts& facts) const {
  look_around(decision, upstream, facts);
  const Call& call = decision.call();
  std::string folder = upstream.working_directory();
  if (folder.empty()) folder = call.setting.folder;
  Circumstances seen{.facts = facts,
                     .now = parts_.clock.wall(),
                     .clock = parts_.clock,
                     .preview = preview_of(call, decision.classification(), std::move(folder))};
  Result<json::value> structured = structured_input(upstream, call);
  if (const Result<void> ready = parts_.recorder.ready(); !ready) {
    seen.unfit =
        Refusal{"event sink failed: audit: " + ready.error().message, Refusal::By::Listener};
  } else if (!upstream.known()) {
    seen.unfit = Refusal{fmt::format("unknown tool `{}`", call.tool)};
  } else if (!structured) {
    seen.unfit =
        Refusal{"the call cannot be previewed: " + structured.error().message, Refusal::By::Tool};
  }
  if (structured) {
    seen.preview.structured_input =
        call_is_exact(call) ? std::move(*structured) : seen.preview.raw_input;
  }
  // Judges the input before guards change it, because it is the agent that hides something.
  if (!decision.consent && may_hold_command(call.input, decision.classification())) {
    seen.hidden =
        redacted_commands(hidden_parts(parts_.redactor, call.input, decision.classification()));
  }
  return seen;
}

Async<void> FirstDoor::authorize(Trail& trail, const std::shared_ptr<Upstream>& upstream,
                                 const std::stop_token& cancel) {
  DecisionFacts facts(parts_.recorder);
  Circumstances seen = look(trail, *upstream, facts);
  seen.cancel = cancel;
  trail.decided_at = rfc3339(seen.now);
  note_surroundings(trail, facts);
  if (seen.unfit && seen.unfit->by == Refusal::By::Listener) {
    // The log accepts no entries. Nothing was announced, so hooks are not notified.
    trail.refuse(*seen.unfit);
    trail.needs_person = false;
    trail.as_of = facts.as_of();
    list_unreached(trail);
    co_return;
  }
  const Call& call = trail.call();
  // The event borrows the preview.
  Event started = event::ToolAuthorizationStarted{call.agent_id, call.tool, call.tool_call_id,
                                                  std::move(seen.preview)};
  trail.rows.push_back(event_row(started, trail.subject()));
  const Result<void> notified = co_await events_.notify(trail, started);
  seen.preview = std::move(std::get<event::ToolAuthorizationStarted>(started).preview);
  if (!notified) seen.unfit = Refusal{notified.error().message, Refusal::By::Listener};
  if (upstream->preparing() != nullptr) {
    seen.prepare = [&] { return prepare_call(trail, upstream, cancel); };
  }
  co_await decide_at_one_moment(trail, *upstream, seen);
  co_await report_decision(trail);
}

// Decides from facts of one moment, so that the decision can be repeated later (WB-8). If another
// process changed one of them meanwhile, reads all of them again and decides again.
Async<void> FirstDoor::decide_at_one_moment(Trail& trail, const Upstream& upstream,
                                            const Circumstances& seen) {
  const auto refuse = [&](std::string why) {
    trail.refuse({std::move(why)});
    trail.needs_person = false;
  };
  // An earlier refusal, such as that of a person, stays in force.
  const bool was_refused = !trail.open();
  for (unsigned moments = 1;; ++moments) {
    const std::size_t noted = trail.rows.size();
    co_await decide(trail, seen);
    if (was_refused || !seen.facts.torn()) co_return;
    if (moments == kMostMoments || seen.cancel.stop_requested()) {
      co_return refuse("the facts of this decision keep changing; try again");
    }
    drop_notes(trail, noted);
    trail.decide_again(trail.shared_plan());
    if (const Result<void> read = seen.facts.read_again(); !read) {
      co_return refuse("the facts of this decision cannot be read: " + read.error().message);
    }
    look_around(trail, upstream, seen.facts);
    note_surroundings(trail, seen.facts);
  }
}

Async<void> FirstDoor::prepare_call(Trail& trail, std::shared_ptr<Upstream> upstream,
                                    std::stop_token cancel) {
  if (recall_preparation(trail)) co_return;
  std::optional<Event> denied =
      co_await prepare(trail, std::move(upstream), parts_.clock, std::move(cancel));
  if (denied) co_await events_.report(trail, std::move(*denied));
}

// A prepared operation that outlived its process is executed, not prepared again (AU-78).
bool FirstDoor::recall_preparation(Trail& trail) {
  const std::string key = idempotency_.key(trail.call());
  if (key.empty()) return false;
  const Result<std::optional<Idempotency::Row>> row = idempotency_.row(key);
  if (!row || !*row || (*row)->status != Idempotency::Status::Unknown) return false;
  if ((*row)->request_digest != trail.request_digest()) return false;
  std::optional<Prepared> prepared = kept_preparation(parts_.recorder, parts_.recorder, key);
  if (!prepared) return false;
  trail.prepared(std::move(*prepared), true);
  trail.preparation_recalled = true;
  return true;
}

// One finish for each start, with the same reason in all its events (EV-33..EV-39).
Async<void> FirstDoor::report_decision(Trail& trail) {
  const Call& call = trail.call();
  using event::Authorization;
  Authorization outcome = Authorization::Allow;
  std::optional<std::string> reason;
  if (!trail.open()) {
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
