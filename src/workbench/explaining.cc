#include "workbench/explaining.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/plan/policy_text.h"
#include "core/record/reading_recorder.h"
#include "effects/profiles.h"
#include "external/guards.h"
#include "grants/token.h"
#include "ledger/read/store_reader.h"
#include "ledger/secret/key_folder.h"
#include "policy/policy_loader.h"
#include "records/opened_entries.h"
#include "records/past_facts.h"
#include "workbench/call_trial.h"
#include "workbench/holes.h"

namespace sallyport::app {

namespace {

// The policy that a recorded call ran under, by the entry that loaded it. Empty: no entry names it,
// or a program made it.
Result<std::string> source_of(ledger::LedgerStore& store, const std::string& hash) {
  std::string source;
  const ledger::Filter filter{
      .facets = {{ledger::Facet::Kind, "control"}},
      .body = {{"control", json::value("policy_loaded")}, {"hash", json::value(hash)}}};
  SALLYPORT_CHECK_OK(store.read([&](ledger::ReadView& view) {
    return visit_opened(view, filter, [&](const json::object&, const json::object& body) {
      source = text_or_empty(body, "source");
      return true;
    });
  }));
  return source == "program" ? std::string() : source;
}

bool reads_paths(const rules::Conditions& conditions) {
  return conditions.names_paths();
}

bool reads_interactive(const rules::Conditions& conditions) {
  return conditions.interactive.has_value();
}

bool any_condition(const rules::Rule& rule, bool (*wanted)(const rules::Conditions&)) {
  return std::ranges::any_of(rule.when, wanted) || std::ranges::any_of(rule.unless, wanted) ||
         std::ranges::any_of(rule.only, wanted, &rules::Alternative::conditions);
}

bool any_condition(const rules::RuleSet& set, bool (*wanted)(const rules::Conditions&)) {
  return std::ranges::any_of(set.rules,
                             [&](const rules::Rule& rule) { return any_condition(rule, wanted); });
}

// True if a rule about the call alone refuses it: no rule is stronger.
bool refused_anyway(const rules::RuleSet& set, const core::RuleAnswer& answer) {
  const rules::Rule* const rule =
      answer.verdict == core::RuleAnswer::Verdict::Refused ? set.find(answer.rule) : nullptr;
  return rule && !any_condition(*rule, reads_paths) && !any_condition(*rule, reads_interactive);
}

// True if the command of the server, or its hint, may say what the tool does.
bool reads_server(const rules::RuleSet& set, const Call& call) {
  const effects::ServerDescription* const server = set.book.server(call.server);
  if (server == nullptr || call.setting.front == "hook" || set.book.tool(call.server, call.tool)) {
    return false;
  }
  const bool in_a_profile =
      std::ranges::any_of(effects::profile_names(), [&](const std::string& profile) {
        return !effects::is_agent_profile(profile) && effects::profile_tool(profile, call.tool);
      });
  return (server->profile == "auto" && in_a_profile) ||
         (server->trust_hints && !effects::is_tool_of_table(call.tool));
}

// What the rules read of the surroundings of a call that is recorded without them, because the
// policy of then had no rules: its folder and links, the host, the server. Empty: nothing.
std::string surroundings_read(const TrialAnswer& answer) {
  if (!answer.seen.rules || !answer.policy().rules) return {};
  const rules::RuleSet& set = *answer.policy().rules;
  const core::RuleAnswer& decided = *answer.seen.rules;
  if (reads_server(set, answer.seen.call)) return "server";
  if (refused_anyway(set, decided)) return {};
  if (any_condition(set, reads_interactive)) return "interactive";
  const json::value* const effects = decided.record.if_contains("effects");
  const json::array* const list = effects ? effects->if_array() : nullptr;
  const bool paths = list && std::ranges::any_of(*list, [](const json::value& effect) {
                       return effect.as_object().contains("path");
                     });
  return paths && any_condition(set, reads_paths) ? "workspace" : "";
}

Result<core::PolicyText> text_of(const std::string& name) {
  SALLYPORT_TRY(const policy::Policy read, policy::PolicyOrigin::named(name).read(nullptr));
  return *read.text;
}

// Builds everything that decides about the call, from its record and the options.
class Explaining {
 public:
  Explaining(const ExplainScene& scene, const ExplainOptions& options)
      : scene_(scene), options_(options) {
    if (scene_.store == nullptr) return;
    reader_.emplace(*scene_.store);
    memory_ = scene_.memory ? scene_.memory : &own_memory_.emplace(*scene_.store);
    trial_.shelf = &memory_->shelf;
  }

  Result<Explained> explain(AskedCall asked) {
    then_ = std::move(asked.then);
    trial_.call = std::move(asked.call);
    if (then_) {
      explained_.then = then_->decision;
      explained_.holes = then_->decision.holes;
    }
    explained_.now.call = trial_.call;
    if (input_gone()) explained_.now.call.input = then_->body.at("requested_input");
    SALLYPORT_CHECK_OK(set_time());
    SALLYPORT_CHECK_OK(find_policy());
    if (!explained_.undecided) SALLYPORT_CHECK_OK(set_scene());
    if (!explained_.undecided) SALLYPORT_CHECK_OK(decide_call());
    if (explained_.now.policy_hash.empty()) {  // undecided, under a policy that was named
      SALLYPORT_TRY(const TrialAnswer asked, decide(trial_, core::RehearsalScope::UntilRefused));
      explained_.now.policy_hash = asked.seen.policy_hash;
    }
    return std::move(explained_);
  }

 private:
  bool of_then() const { return then_ && !options_.now; }
  bool input_gone() const { return then_ && then_->decision.input_gone; }

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
            fmt::format("`{:.80}` is not a time; write it as 2026-11-16T12:00:00Z", *options_.at),
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
                "judges it by the current policy and facts");
      return {};
    }
    trial_.at = *decided;
    past_.emplace(*scene_.store, memory_->history, *as_of);
    trial_.records = &*past_;
    return {};
  }

  Result<std::string> known_source(const std::string& hash) {
    const auto found = memory_->sources.find(hash);
    if (found != memory_->sources.end()) return found->second;
    SALLYPORT_TRY(std::string source, source_of(*scene_.store, hash));
    return memory_->sources[hash] = std::move(source);
  }

  Result<std::optional<core::KeptPolicy>> known_text(const std::string& hash) {
    const auto found = memory_->texts.find(hash);
    if (found != memory_->texts.end()) return found->second;
    SALLYPORT_TRY(auto kept, core::kept_policy(records_of_now(), hash));
    return memory_->texts[hash] = std::move(kept);
  }

  // The policy that was named; else that of the recorded call; else the starter.
  Result<void> find_policy() {
    if (options_.policy || !then_) {
      NamedPolicy named;
      if (options_.policy) named = *options_.policy;
      if (!options_.policy) {
        SALLYPORT_TRY(named, policy_named("starter", nullptr));
      }
      trial_.policy = named.text;
      trial_.policy_name = named.name;
      explained_.policy = named.name;
      return {};
    }
    const std::string& hash = then_->decision.policy_hash;
    SALLYPORT_TRY(const std::string source, known_source(hash));
    if (options_.now) {
      if (source.empty()) {
        return fail(ErrorCode::InvalidInput,
                    "no file of the policy of this call is on record; name one with --policy");
      }
      trial_.policy_name = source;
      SALLYPORT_TRY(trial_.policy, text_of(source));
      explained_.policy = source;
      explained_.policy_note = "as it is now";
      return {};
    }
    explained_.policy = source.empty() ? hash : source;
    explained_.now.policy_hash = hash;
    SALLYPORT_TRY(const auto kept, known_text(hash));
    if (kept) {
      trial_.policy = kept->text;
      trial_.policy_name = kept->source == "program" ? std::string("policy") : kept->source;
      explained_.policy_note = "the policy text at that time";
      return {};
    }
    undecided("policy_not_kept", hash,
              source.empty()
                  ? "a program made the policy, or no entry names it; name one with --policy"
                  : fmt::format("the text of `{}` was not kept; name a policy with --policy, or "
                                "judge it with --now",
                                source));
    return {};
  }

  // Sets the context of rules besides the call, from the record (RU-36, RU-73).
  Result<void> set_scene() {
    trial_.reviewers = scene_.reviewers;
    trial_.machine = machine_of(scene_.environment, scene_.data_dir, trial_.policy_name);
    if (!scene_.sees_disk) trial_.files = &files_.emplace(json::object());
    if (!then_) {
      if (trial_.call.setting.front.empty()) trial_.call.setting.front = "mcp";
      return {};
    }
    trial_.caution = bool_in(then_->body, "caution").value_or(false);
    trial_.definition = text_or_empty(then_->body, "definition");
    trial_.known = !then_->decision.reason.starts_with("unknown tool `");
    if (options_.with_result) trial_.result = then_->result;
    if (trial_.call.setting.front.empty()) trial_.call.setting.front = "mcp";
    const json::object* const rules = object_in(then_->body, "rules");
    if (rules == nullptr) {
      no_surroundings_ = true;
      if (of_then()) trial_.files = &files_.emplace(json::object());
      return {};
    }
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
      trial_.call.grants.push_back(*options_.grant);
      const Result<grants::TokenChain> chain = grants::read_token(*options_.grant);
      if (chain && memory_) memory_->history.add_token(*chain);
    }
    if (input_gone()) {
      SALLYPORT_TRY(const bool needed, needs_input(trial_));
      if (needed) {
        undecided("input_gone", "input", "the input was erased, and the policy looks at it");
        return {};
      }
    }
    std::map<std::string, std::string> words;
    if (!input_gone() && !explained_.holes.empty()) {
      SALLYPORT_TRY(const auto key, ledger::KeyFolder::kept_digest_key(scene_.data_dir));
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
      words = answer.words;
    }
    SALLYPORT_TRY(TrialAnswer answer, decide(trial_, core::RehearsalScope::UntilRefused));
    if (then_ && trial_.call.grants.empty() && presented_grant(answer.seen)) {
      undecided("grant_not_kept", "grant",
                "the policy asks for a grant, and tokens are not kept; name it with --grant");
      return {};
    }
    if (past_ && !past_->unknown().empty()) {
      undecided("state_unknown", *past_->unknown().begin(),
                fmt::format("{} can no longer be recomputed", *past_->unknown().begin()));
      return {};
    }
    if (const std::string read = no_surroundings_ ? surroundings_read(answer) : std::string();
        !read.empty()) {
      undecided("state_unknown", read,
                fmt::format("rules of this policy look at the {}, and the record of the call does "
                            "not have it, because no rule judged the call then",
                            read));
      return {};
    }
    if (files_ && files_->unknown()) {
      undecided("state_unknown", "files", "what a folder holds is not known here");
      return {};
    }
    if (const std::optional<std::string> guard = external::missing_answer(answer.seen)) {
      undecided("guard_not_ours", *guard,
                fmt::format("the external guard `{}` would be asked, and nothing is started here",
                            *guard));
      return {};
    }
    explained_.now = std::move(answer.seen);
    explained_.release = std::move(answer.release);
    if (!explained_.holes.empty() || input_gone()) show_marks(words);
    explained_.decider = decider_of(explained_.now, answer.policy(), answer.tree());
    compare_with_record();
    if (!options_.with_changes || verdict_of(explained_.now) == CallVerdict::Runs) return {};
    SALLYPORT_TRY(const TrialAnswer all, decide(trial_, core::RehearsalScope::All));
    explained_.causes = causes_of(all.seen, all.policy(), all.tree());
    if (explained_.undecided) return {};
    SALLYPORT_TRY(explained_.changes, changes_for(trial_, explained_.causes));
    return {};
  }

  // The words in the holes were not in the call, so the marks of the record replace them.
  void show_marks(const std::map<std::string, std::string>& words) {
    core::Rehearsal& now = explained_.now;
    now.call.input = then_->body.at("requested_input");
    if (now.refusal) put_marks_back(*now.refusal, words);
    const auto mark = [&](json::object& object) {
      json::value value = std::move(object);
      put_marks_back(value, words);
      object = std::move(value.get_object());
    };
    std::ranges::for_each(now.findings, mark);
    if (!now.rules) return;
    mark(now.rules->record);
    put_marks_back(now.rules->text, words);
    put_marks_back(now.rules->message, words);
  }

  // The call presented a token then, or the policy asks for one now.
  bool presented_grant(const core::Rehearsal& seen) const {
    return std::ranges::any_of(seen.guard_runs,
                               [](const GuardRun& run) {
                                 return run.stage == "grant" && run.rule == "grant_missing";
                               }) &&
           then_->decision.reason != "grant_missing";
  }

  // A repeated decision must agree with the record; otherwise the call is undecided (WB-8).
  void compare_with_record() {
    if (!of_then() || options_.policy) return;
    RecordedDecision& then = *explained_.then;
    const CallVerdict verdict = verdict_of(explained_.now);
    const auto asks = [](CallVerdict one) {
      return one == CallVerdict::Asks || one == CallVerdict::Proposed;
    };
    then.reproduced = verdict == then.verdict || (asks(verdict) && asks(then.verdict));
    if (*then.reproduced) return;
    undecided("guard_not_ours", "decision",
              fmt::format("the record says `{}`{}, which the policy alone does not explain: it "
                          "gives `{}`",
                          to_string(then.verdict),
                          then.reason.empty() ? "" : fmt::format(" ({})", then.reason),
                          to_string(verdict)));
  }

  const ExplainScene& scene_;
  const ExplainOptions& options_;
  core::NoRecords nothing_;
  std::optional<ledger::StoreReader> reader_;
  std::optional<ExplainMemory> own_memory_;
  ExplainMemory* memory_ = nullptr;  // null: there is no store
  std::optional<PastFacts> past_;
  std::optional<RecordedFiles> files_;
  bool no_surroundings_ = false;  // the record has neither folder nor links nor server
  std::optional<RecordedCall> then_;
  CallTrial trial_;
  Explained explained_;
};

}  // namespace

Result<NamedPolicy> policy_named(const std::string& name, ledger::LedgerStore* store) {
  if (!name.starts_with("sha256:")) {
    SALLYPORT_TRY(core::PolicyText text, text_of(name));
    return NamedPolicy{name, std::move(text)};
  }
  std::optional<core::KeptPolicy> kept;
  if (store != nullptr) {
    ledger::StoreReader records(*store);
    SALLYPORT_TRY(kept, core::kept_policy(records, name));
  }
  if (kept) return NamedPolicy{name, std::move(kept->text)};
  return fail(ErrorCode::NotFound,
              fmt::format("no text of a policy with the hash `{:.80}` is kept here", name));
}

Result<Explained> explain(const ExplainScene& scene, AskedCall asked,
                          const ExplainOptions& options) {
  return Explaining(scene, options).explain(std::move(asked));
}

}  // namespace sallyport::app
