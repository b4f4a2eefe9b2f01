#include "core/journal.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::core {

namespace {

json::object body_of(const Trail& trail) {
  const Call& call = trail.call();
  const Classification& tool = trail.classification();
  json::array guards;
  for (const GuardRun& run : trail.guard_runs) guards.push_back(run.to_json());
  return {{"tool_call_id", call.tool_call_id},
          {"display_name", tool.display_name.empty() ? call.tool : tool.display_name},
          {"tier", to_string(tool.tier)},
          {"requested_input", trail.requested_input()},
          {"effective_input", call.input},
          {"turn", call.turn},
          {"provenance",
           json::object{{"provider", call.provenance.provider}, {"model", call.provenance.model}}},
          {"request_digest", trail.request_digest()},
          {"call_digest", trail.call_digest()},
          {"effect_class", tool.effect_class},
          {"recovery_class", tool.replay_safe() ? "replay_safe" : "side_effecting"},
          {"autonomy", to_string(trail.autonomy)},
          {"autonomy_source", trail.autonomy_source},
          {"approval_id", nullptr},
          {"matched_grant_index", nullptr},
          {"guards", std::move(guards)}};
}

Draft draft_of(const Trail& trail, Kind kind) {
  Draft draft{.kind = kind, .subject = trail.subject(), .body = body_of(trail)};
  if (trail.call().raw_input) {
    for (const char* const path : {"/requested_input", "/effective_input"}) {
      draft.exact.push_back({.path = path, .bytes = *trail.call().raw_input, .raw = true});
    }
  }
  return draft;
}

void add_outcome(Draft& draft, const Outcome& outcome) {
  draft.outcome = to_string(outcome.kind);
  draft.body["outcome"] = outcome.to_json();
  draft.body["terminal"] = outcome.terminal();
  draft.body["effect_state"] = to_string(outcome.effect);
  draft.body["post_invocation"] = nullptr;
  if (!outcome.release) return;
  const Release& release = *outcome.release;
  draft.body["post_invocation"] = release.to_json();
  draft.exact.push_back({.path = "/post_invocation/released",
                         .bytes = canonical_json(release.released.to_json()),
                         .withheld_if_redacted = true});
  if (draft.body.at("post_invocation").as_object().contains("original")) {
    draft.exact.push_back({.path = "/post_invocation/original",
                           .bytes = canonical_json(release.original.to_json()),
                           .withheld = true});
  }
}

Draft terminal_draft(const Trail& trail, const Outcome& outcome) {
  Draft draft = draft_of(trail, Kind::ToolAudit);
  add_outcome(draft, outcome);
  draft.facts.push_back({"open_call", trail.call().call_id, std::nullopt});
  return draft;
}

}  // namespace

std::vector<Draft> Journal::drafts(Trail& trail, Draft record) {
  FailOpenLog::Share share = trail.fail_open.take();
  std::vector<Draft> all = std::move(share.drafts);
  for (Draft& draft : all) draft.subject.policy_hash = trail.plan().hash();
  for (Fact& fact : share.facts) record.facts.push_back(std::move(fact));
  all.push_back(std::move(record));
  return all;
}

Task<Position> Journal::begin(Trail& trail) {
  Draft intent = draft_of(trail, Kind::Intent);
  intent.facts.push_back({"open_call", trail.call().call_id, recorder_.instance_id()});
  std::vector<Draft> all = drafts(trail, std::move(intent));
  SALLYPORT_CO_TRY(const std::vector<Position> positions,
                   co_await recorder_.append(std::move(all), Urgency::Announces));
  co_return positions.back();
}

Task<Position> Journal::end(Trail& trail, const Outcome& outcome) {
  std::vector<Draft> all = drafts(trail, terminal_draft(trail, outcome));
  Result<std::vector<Position>> written =
      co_await recorder_.append(std::move(all), Urgency::Reports);
  if (written) co_return written->back();
  const std::string error =
      fmt::format("{} could not be recorded: {}", to_string(outcome.kind), written.error().message);
  Outcome failed = Outcome::persistence_failed(error, outcome.result, outcome.effect);
  failed.release = outcome.release;
  owe(trail, failed);
  co_return std::unexpected(written.error());
}

void Journal::owe(Trail& trail, const Outcome& outcome) {
  recorder_.owe(drafts(trail, terminal_draft(trail, outcome)));
}

std::vector<Draft> close_interrupted(const json::value& entry, const json::value& body) {
  const auto member = [&](std::string_view name) {
    return std::string(text_in(entry.as_object(), name).value_or(""));
  };
  Draft draft{.kind = Kind::ToolAudit,
              .subject = {.policy_hash = member("policy_hash"),
                          .call_id = member("call_id"),
                          .session_id = member("session_id"),
                          .agent_id = member("agent_id"),
                          .server = member("server"),
                          .tool_name = member("tool_name"),
                          .trace_id = member("trace_id")},
              .body = body.as_object()};
  add_outcome(draft, Outcome::persistence_failed(
                         "interrupted: the process ended before an outcome was recorded",
                         std::nullopt, EffectState::Unknown));
  return {std::move(draft)};
}

}  // namespace sallyport::core
