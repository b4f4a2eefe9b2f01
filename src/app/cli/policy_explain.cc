// Would this call run, and why? Decided by the function that decides about calls, over a ledger
// that is only read. A recorded call is judged with the policy text, the front and the facts of
// then (WB-33).
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "app/cli/grant_files.h"
#include "app/cli/policy_commands.h"
#include "app/environment.h"
#include "app/input.h"
#include "app/output.h"
#include "app/records/past_facts.h"
#include "app/records/short_ids.h"
#include "app/workbench/call_trial.h"
#include "app/workbench/explanation.h"
#include "app/workbench/holes.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/plan/policy_text.h"
#include "core/record/reading_recorder.h"
#include "external/guards.h"
#include "ledger/entry.h"
#include "ledger/key_folder.h"
#include "ledger/opening_check.h"
#include "ledger/query.h"
#include "ledger/store_reader.h"
#include "policy/policy_loader.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestCall = 1u << 20;

// The record of a call that was made before.
struct Recorded {
  RecordedDecision decision{};
  json::object body{};
  std::string source{};  // of the policy, where an entry names it
};

struct Asked {
  Call call{};
  std::optional<Recorded> then{};
};

Result<Call> call_in(const std::string& text, const std::string& where) {
  Result<ParsedJson> parsed = parse_json(text);
  if (!parsed) {
    return fail(ErrorCode::InvalidInput, parsed.error().message,
                fmt::format("{}:{}", where, parsed.error().where));
  }
  const json::object* const object = parsed->value.if_object();
  if (object == nullptr) return fail(ErrorCode::InvalidInput, "a call is an object", where);
  Call call{.input = json::object{}};
  std::string workspace;
  for (const json::key_value_pair& pair : *object) {
    const std::string_view name = pair.key();
    std::string* const member = name == "agent" || name == "agent_id"       ? &call.agent_id
                                : name == "session" || name == "session_id" ? &call.session_id
                                : name == "server"                          ? &call.server
                                : name == "tool"                            ? &call.tool
                                : name == "front"                           ? &call.setting.front
                                : name == "cwd"                             ? &call.setting.folder
                                : name == "workspace"                       ? &workspace
                                                                            : nullptr;
    if (name == "input") {
      call.input = pair.value();
    } else if (member == nullptr) {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("unknown member `{:.80}`; a call has agent, session, server, tool, input, "
                      "front, cwd and workspace",
                      name),
          where);
    } else if (!pair.value().is_string()) {
      return fail(ErrorCode::InvalidInput, fmt::format("`{}` is no text", name), where);
    } else {
      *member = pair.value().get_string();
    }
  }
  if (!workspace.empty()) call.setting.workspace.push_back(workspace);
  if (call.tool.empty()) return fail(ErrorCode::InvalidInput, "a call names its `tool`", where);
  return call;
}

// What became of the call, in the words of a decision.
std::string recorded_verdict(const RecordedDecision& then, const json::object& body) {
  const bool asked = !text_or_empty(body, "approval_id").empty();
  if (asked || then.outcome == "requires_confirmation") {
    return then.tier == "suggest" ? "proposed" : "asks";
  }
  if (then.outcome != "blocked" && then.outcome != "invalidated") return "runs";
  return then.reason.starts_with("shadow: ") ? "shadow" : "refused";
}

std::vector<Hole> holes_in(const json::object& entry) {
  constexpr std::string_view kInput = "/requested_input";
  std::vector<Hole> holes;
  const json::value* const all = entry.if_contains("redactions");
  if (all == nullptr || !all->is_array()) return holes;
  for (const json::value& each : all->get_array()) {
    const json::object& one = each.as_object();
    const std::string path = text_or_empty(one, "path");
    // A list that was cut has an empty path: what is behind it may be anywhere (AU-83).
    if (!path.empty() && path != kInput && !path.starts_with(std::string(kInput) + "/")) continue;
    holes.push_back({.path = path.empty() ? path : path.substr(kInput.size()),
                     .category = text_or_empty(one, "category"),
                     .detector = path.empty() ? "" : text_or_empty(one, "detector"),
                     .digest = text_or_empty(one, "digest"),
                     .whole = bool_in(one, "whole").value_or(false)});
  }
  return holes;
}

Asked asked_in(const json::object& entry, const json::object& body) {
  const json::value* const input = body.if_contains("requested_input");
  Asked asked{.call = {.agent_id = text_or_empty(entry, "agent_id"),
                       .session_id = text_or_empty(entry, "session_id"),
                       .server = text_or_empty(entry, "server"),
                       .tool = text_or_empty(entry, "tool_name"),
                       .input = input ? *input : json::value(),
                       .setting = {.front = text_or_empty(body, "front")}},
              .then = Recorded{.body = body}};
  RecordedDecision& then = asked.then->decision;
  then.sequence = number_in(entry, "sequence").value_or(0);
  then.policy_hash = text_or_empty(entry, "policy_hash");
  then.tier = text_or_empty(body, "autonomy");
  then.tier_source = text_or_empty(body, "autonomy_source");
  then.holes = holes_in(entry);
  then.redacted = !then.holes.empty();
  if (const json::object* const outcome = object_in(body, "outcome")) {
    then.outcome = text_or_empty(*outcome, "kind");
    for (const char* const name : {"reason", "error", "description"}) {
      if (then.reason.empty()) then.reason = text_or_empty(*outcome, name);
    }
  }
  then.verdict = recorded_verdict(then, body);
  return asked;
}

// Those that have a body, opened and in order, for as long as `visit` wants more.
Result<void> visit_entries(
    ledger::LedgerStore& store, const ledger::Filter& filter,
    const std::function<bool(const json::object& entry, const json::object& body)>& visit) {
  return store.read([&](ledger::ReadView& view) {
    return ledger::find_entries(
        view, filter,
        [&](const ledger::StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
          SALLYPORT_TRY(const json::object entry, ledger::opened_entry(stored));
          const json::object* const body = object_in(entry, "body");
          return body == nullptr || visit(entry, *body);
        });
  });
}

// The record that ended the call, else the last one about it.
Result<Asked> recorded(ledger::LedgerStore& store, const std::string& id) {
  std::optional<Asked> found;
  const ledger::Filter filter{
      .facets = {{ledger::Facet::Call, id}, {ledger::Facet::Kind, "tool_audit"}}};
  SALLYPORT_CHECK_OK(
      visit_entries(store, filter, [&](const json::object& entry, const json::object& body) {
        found = asked_in(entry, body);
        return !bool_in(body, "terminal").value_or(false);
      }));
  if (found) return std::move(*found);
  return fail(ErrorCode::NotFound,
              fmt::format("`{:.80}` is no file, and no call of that id is recorded", id));
}

Result<Asked> find_call(const std::string& named, Workspace* workspace) {
  if (trimmed(named).starts_with('{')) {
    SALLYPORT_TRY(Call call, call_in(named, "call"));
    return Asked{.call = std::move(call)};
  }
  std::error_code code;
  if (named == "-" || std::filesystem::exists(named, code)) {
    SALLYPORT_TRY(const std::string text, read_input(named, kLargestCall));
    SALLYPORT_TRY(Call call, call_in(text, named));
    return Asked{.call = std::move(call)};
  }
  if (workspace != nullptr) {
    std::string id;
    SALLYPORT_CHECK_OK(workspace->store().read([&](ledger::ReadView& view) -> Result<void> {
      SALLYPORT_TRY(id, whole_call_id(view, named));
      return {};
    }));
    return recorded(workspace->store(), id);
  }
  return fail(ErrorCode::NotFound,
              fmt::format("`{:.80}` is no file, and there is no ledger here", named));
}

// The policy that a recorded call ran under, by the entry that loaded it. Empty: no entry names it,
// or a program made it.
Result<std::string> source_of(ledger::LedgerStore& store, const std::string& hash) {
  std::string source;
  const ledger::Filter filter{
      .facets = {{ledger::Facet::Kind, "control"}},
      .body = {{"control", json::value("policy_loaded")}, {"hash", json::value(hash)}}};
  SALLYPORT_CHECK_OK(
      visit_entries(store, filter, [&](const json::object&, const json::object& body) {
        source = text_or_empty(body, "source");
        return true;
      }));
  return source == "program" ? std::string() : source;
}

Result<core::PolicyText> text_named(const std::string& name) {
  SALLYPORT_TRY(const policy::Policy read, policy::PolicyOrigin::named(name).read(nullptr));
  return *read.text;
}

// Where no ledger is, nothing is revoked, spent, promoted or pinned.
Result<std::unique_ptr<Workspace>> ledger_if_any(const Context& context) {
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  if (!place.has_ledger()) return nullptr;
  return context.open_reading();
}

// Empty: there is none.
std::filesystem::path data_dir(const Context& context) {
  const Result<Workspace::Place> place = context.place();
  return place ? place->data_dir : std::filesystem::path();
}

// Everything that decides about the call, put together from the record and what was named.
class Explaining {
 public:
  Explaining(const Context& context, const PolicyExplainOptions& options, Workspace* workspace)
      : context_(context), options_(options), workspace_(workspace) {
    if (workspace_ != nullptr) reader_.emplace(workspace_->store());
  }

  Result<Explained> explain(Asked asked) {
    then_ = std::move(asked.then);
    trial_.call = std::move(asked.call);
    if (then_) {
      explained_.then = then_->decision;
      explained_.holes = then_->decision.holes;
    }
    explained_.now.call = trial_.call;
    SALLYPORT_CHECK_OK(set_time());
    SALLYPORT_CHECK_OK(find_policy());
    if (!explained_.undecided) SALLYPORT_CHECK_OK(set_scene());
    if (!explained_.undecided) SALLYPORT_CHECK_OK(decide_call());
    return std::move(explained_);
  }

 private:
  bool of_then() const { return then_ && !options_.now; }

  void undecided(std::string reason, std::string missing, std::string text) {
    if (explained_.undecided) return;
    explained_.undecided = Undecided{std::move(reason), std::move(missing), std::move(text)};
  }

  core::RecordReader& records_of_now() {
    return reader_ ? static_cast<core::RecordReader&>(*reader_) : nothing_;
  }

  Result<void> set_time() {
    trial_.at = SystemClock().wall();
    if (options_.at) {
      const std::optional<WallTime> at = from_rfc3339(*options_.at);
      if (!at) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("`{:.80}` is no time; write it as 2026-11-16T12:00:00Z", *options_.at),
            "--at");
      }
      trial_.at = *at;
    }
    trial_.records = &records_of_now();
    if (!of_then()) return {};
    const std::optional<WallTime> decided = from_rfc3339(text_or_empty(then_->body, "decided_at"));
    const auto as_of = number_in(then_->body, "as_of");
    if (!decided || !as_of) {
      undecided("state_unknown", "as_of",
                "an earlier release recorded the call without the state that decided it; `--now` "
                "judges it by the policy and the facts of now");
      return {};
    }
    trial_.at = *decided;
    past_.emplace(workspace_->store(), *as_of, trial_.at);
    trial_.records = &*past_;
    return {};
  }

  // The policy that was named; else that of the recorded call; else the starter.
  Result<void> find_policy() {
    trial_.policy_name = options_.policy.value_or("starter");
    if (options_.policy || !then_) {
      SALLYPORT_TRY(trial_.policy, text_named(trial_.policy_name));
      explained_.policy = trial_.policy_name;
      return {};
    }
    const std::string& hash = then_->decision.policy_hash;
    SALLYPORT_TRY(const std::string source, source_of(workspace_->store(), hash));
    if (options_.now) {
      if (source.empty()) {
        return fail(ErrorCode::InvalidInput,
                    "no file of the policy of this call is on record; name one with --policy");
      }
      trial_.policy_name = source;
      SALLYPORT_TRY(trial_.policy, text_named(source));
      explained_.policy = source;
      explained_.policy_note = "as it is now";
      return {};
    }
    explained_.policy = source.empty() ? hash : source;
    SALLYPORT_TRY(const auto kept, core::kept_policy(records_of_now(), hash));
    if (kept) {
      trial_.policy = kept->text;
      trial_.policy_name = kept->source == "program" ? std::string("policy") : kept->source;
      explained_.policy_note = "the policy text of then";
      return {};
    }
    explained_.now.policy_hash = hash;
    undecided("policy_not_kept", hash,
              source.empty()
                  ? "a program made the policy, or no entry names it; name one with --policy"
                  : fmt::format("the text of `{}` was not kept; name a policy with --policy, or "
                                "judge it with --now",
                                source));
    return {};
  }

  // What rules look at beside the call, as the record has it (RU-36, RU-73).
  Result<void> set_scene() {
    const Result<Workspace::Place> place = context_.place();
    if (place) trial_.reviewers = place->reviewers_file();
    trial_.machine = machine_of(context_.environment, data_dir(context_), trial_.policy_name);
    if (!then_) {
      if (trial_.call.setting.front.empty()) trial_.call.setting.front = "mcp";
      return {};
    }
    trial_.caution = bool_in(then_->body, "caution").value_or(false);
    trial_.definition = text_or_empty(then_->body, "definition");
    trial_.known = !then_->decision.reason.starts_with("unknown tool `");
    if (trial_.call.setting.front.empty()) trial_.call.setting.front = "mcp";
    const json::object* const rules = object_in(then_->body, "rules");
    if (rules == nullptr) return {};
    SALLYPORT_CHECK_OK(read_scene(text_or_empty(*rules, "scene")));
    if (!of_then()) return {};
    const json::object* const details = object_in(*rules, "details");
    files_.emplace(details ? *details : json::object());
    trial_.files = &*files_;
    return {};
  }

  Result<void> read_scene(const std::string& digest) {
    SALLYPORT_TRY(const auto stored, records_of_now().fact("scene", digest));
    const auto placed = stored ? core::split_place(*stored) : std::nullopt;
    const Result<json::object> entry =
        placed ? records_of_now().entry(placed->sequence)
               : Result<json::object>(fail(ErrorCode::NotFound, "there is no such scene"));
    const json::object* const body = entry ? object_in(*entry, "body") : nullptr;
    const json::object* const scene = body ? object_in(*body, "details") : nullptr;
    if (scene == nullptr) {
      undecided("state_unknown", "workspace",
                "the folder and the workspace of the call are not on record");
      return {};
    }
    const auto texts = [&](const char* name) {
      std::vector<std::string> all;
      const json::value* const list = scene->if_contains(name);
      if (list == nullptr || !list->is_array()) return all;
      for (const json::value& one : list->get_array()) {
        if (one.is_string()) all.emplace_back(one.get_string());
      }
      return all;
    };
    CallSetting& setting = trial_.call.setting;
    setting.folder = text_or_empty(*scene, "cwd");
    setting.workspace = texts("workspace");
    setting.interactive = bool_in(*scene, "interactive").value_or(false);
    trial_.upstream.command = texts("command");
    trial_.upstream.read_only_hint = bool_in(*scene, "read_only_hint");
    trial_.upstream.definition_changed = bool_in(*scene, "definition_changed").value_or(false);
    trial_.upstream.remote_files = bool_in(*scene, "remote_files").value_or(false);
    if (!past_ || trial_.call.session_id.empty()) return {};
    past_->set("workspace",
               canonical_json(json::array{trial_.call.agent_id, trial_.call.session_id}),
               setting.workspace.empty()
                   ? std::nullopt
                   : std::optional(canonical_json(json::value_from(setting.workspace))));
    return {};
  }

  Result<void> decide_call() {
    if (options_.grant) {
      SALLYPORT_TRY(std::string token, read_token_text(*options_.grant));
      trial_.call.grants.push_back(std::move(token));
    }
    if (!explained_.holes.empty()) {
      SALLYPORT_TRY(const auto key, ledger::KeyFolder::kept_digest_key(data_dir(context_)));
      const std::optional<KeyedDigest> digest =
          key ? std::optional(KeyedDigest(*key)) : std::nullopt;
      SALLYPORT_TRY(const HoleAnswer answer,
                    fill_holes(trial_, explained_.holes, digest ? &*digest : nullptr));
      if (answer.missing) {
        undecided("input_redacted", answer.missing->path,
                  fmt::format("{} lost {}, which is not kept; {}",
                              answer.missing->path.empty() ? "the input" : answer.missing->path,
                              answer.missing->detector.empty() ? answer.missing->category
                                                               : answer.missing->detector,
                              answer.why));
        return {};
      }
    }
    SALLYPORT_TRY(TrialAnswer answer, decide(trial_, core::Hearing::UntilRefused));
    if (then_ && trial_.call.grants.empty() && presented_grant(answer.seen)) {
      undecided("grant_not_kept", "grant",
                "the policy asks for a grant, and tokens are not kept; name it with --grant");
      return {};
    }
    if (past_ && !past_->unknown().empty()) {
      undecided("state_unknown", *past_->unknown().begin(),
                fmt::format("{} cannot be told any more", *past_->unknown().begin()));
      return {};
    }
    if (files_ && files_->unknown()) {
      undecided("state_unknown", "files", "what a folder held then is not on record");
      return {};
    }
    if (const std::optional<std::string> guard = external::missing_answer(answer.seen)) {
      undecided("guard_not_ours", *guard,
                fmt::format("the external guard `{}` would be asked, and nothing is started here",
                            *guard));
      return {};
    }
    SALLYPORT_TRY(const TrialAnswer all, decide(trial_, core::Hearing::All));
    SALLYPORT_TRY(const PolicyTree tree, PolicyTree::read(trial_.policy, trial_.policy_name));
    explained_.now = std::move(answer.seen);
    if (!explained_.holes.empty()) explained_.now.call.input = recorded_input();
    explained_.decider = decider_of(explained_.now, answer.policy, tree);
    const bool runs = verdict_of(explained_.now) == "runs";
    if (!runs) explained_.causes = causes_of(all.seen, all.policy, tree);
    compare_with_record();
    if (explained_.undecided) return {};
    SALLYPORT_TRY(explained_.changes, changes_for(trial_, explained_.causes));
    return {};
  }

  json::value recorded_input() const { return then_->body.at("requested_input"); }

  // The call presented a token then, or the policy asks for one now.
  bool presented_grant(const core::Rehearsal& seen) const {
    return std::ranges::any_of(seen.guard_runs,
                               [](const GuardRun& run) {
                                 return run.stage == "grant" && run.rule == "grant_missing";
                               }) &&
           then_->decision.reason != "grant_missing";
  }

  // A decision that is made again as it was then says what the record says, or nothing (WB-8).
  void compare_with_record() {
    if (!of_then() || options_.policy) return;
    RecordedDecision& then = *explained_.then;
    const std::string verdict(verdict_of(explained_.now));
    const bool asked = then.verdict == "asks" || then.verdict == "proposed";
    const bool asks = verdict == "asks" || verdict == "proposed";
    then.reproduced = verdict == then.verdict || (asked && asks);
    if (*then.reproduced) return;
    undecided("guard_not_ours", "decision",
              fmt::format("the record says `{}`{}, which the policy alone does not explain: it "
                          "gives `{}`",
                          then.verdict,
                          then.reason.empty() ? "" : fmt::format(" ({})", then.reason), verdict));
  }

  const Context& context_;
  const PolicyExplainOptions& options_;
  Workspace* workspace_;
  core::NoRecords nothing_;
  std::optional<ledger::StoreReader> reader_;
  std::optional<PastFacts> past_;
  std::optional<RecordedFiles> files_;
  std::optional<Recorded> then_;
  CallTrial trial_;
  Explained explained_;
};

}  // namespace

Result<int> policy_explain(const Context& context, const PolicyExplainOptions& options) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, ledger_if_any(context));
  SALLYPORT_TRY(Asked asked, find_call(options.call, workspace.get()));
  SALLYPORT_TRY(const Explained explained,
                Explaining(context, options, workspace.get()).explain(std::move(asked)));
  if (context.json()) {
    say(visible_json(canonical_json(explanation_json(explained))));
  } else {
    say_explanation(explained);
  }
  return explained.verdict() == "runs" ? 0 : 1;
}

}  // namespace sallyport::app
