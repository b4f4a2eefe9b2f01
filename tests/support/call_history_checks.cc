#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <regex>

#include "base/json_members.h"
#include "core/call/idempotency.h"
#include "support/call_history.h"
#include "support/call_history_story.h"

namespace sallyport::test {

namespace {

using core::Draft;
using core::Kind;

class Checks {
 public:
  explicit Checks(const History& history)
      : history_(history),
        disk_(history.disk),
        found_(history.witness.violations),
        stories_(stories_on(history.disk)) {}

  std::vector<std::string> all() {
    for (const auto& [id, story] : stories_) {
      check_records(story);
      check_events(story);
      check_commits(story);
      check_contents(story);
    }
    check_runs();
    check_rows();
    check_repetitions();
    check_starts();
    check_presented();
    check_questions();
    return std::move(found_);
  }

 private:
  void complain(const Story& story, const std::string& text) {
    found_.push_back(fmt::format("{} ({}): {}", story.call_id, story.trace, text));
  }

  const Draft& draft(std::uint64_t sequence) const { return disk_.entries[sequence].draft; }
  std::size_t commit(std::uint64_t sequence) const { return disk_.entries[sequence].commit; }

  const Presented* presented(const std::string& trace) const {
    const auto found = history_.presented.find(trace);
    return found == history_.presented.end() ? nullptr : &found->second;
  }

  bool may_wait(const Story& story) const {
    if (!story.intents.empty() || (story.records.empty() && story.joins.empty())) return false;
    if (!story.records.empty() && draft(story.records.back()).outcome != "requires_confirmation") {
      return false;
    }
    const Presented* const call = presented(story.trace);
    return call != nullptr && (call->way != Way::Held || call->waits || !call->survived);
  }

  void check_records(const Story& story) {
    if (story.terminals > 1) complain(story, "more than one terminal record");
    if (story.terminals == 0 && !may_wait(story)) {
      complain(story, fmt::format("no terminal record after `{}`, {} intents, {} records",
                                  story.letters, story.intents.size(), story.records.size()));
    }
    if (story.intents.size() > 1) complain(story, "more than one intent");
    for (const std::uint64_t at : story.records) {
      const Draft& record = draft(at);
      if (is_terminal(record)) {
        if (at != story.records.back()) complain(story, "a record behind the terminal one");
        if (!story.events.empty() && story.events.back() > at) {
          complain(story, "an event behind the terminal record");
        }
      } else if (record.outcome != "requires_confirmation" &&
                 !(record.outcome == "persistence_failed" && handed_out(story))) {
        complain(story, record.outcome + " is not terminal");
      }
      const bool has_intent = !story.intents.empty() && story.intents.front() < at;
      if (effect_of(record) != "none" && !has_intent) complain(story, "an effect without intent");
      check_failure(story, record);
    }
  }

  bool handed_out(const Story& story) const {
    const Presented* const call = presented(story.trace);
    return call != nullptr && call->way == Way::HandedOff;
  }

  // Section 8: when `persistence_failed` is written, and its statement about the effect.
  void check_failure(const Story& story, const Draft& record) {
    if (record.outcome != "persistence_failed") return;
    const std::string text = outcome_text(record);
    const bool has_result = !record.body.at("outcome").at("result").is_null();
    if (text.starts_with("completed could not be recorded: ")) {
      if (!has_result) complain(story, "a result was lost");
      return;
    }
    static const std::regex known(
        "interrupted: .*|(the intent|the approval question|the repeated "
        "result|blocked|invalidated|cached) "
        "could not be recorded: .*");
    if (!std::regex_match(text, known)) complain(story, "persistence_failed: " + text);
    const std::string wanted = text.starts_with("interrupted:") ? "unknown" : "none";
    if (has_result || effect_of(record) != wanted) complain(story, "not as section 8: " + text);
  }

  void check_events(const Story& story) {
    if (story.records.empty() && story.joins.empty()) {
      return complain(story, "events without a record");
    }
    std::string pattern = "(spq)+";
    if (!story.records.empty()) {
      pattern = fmt::format("(spq)*({})", endings_for(draft(story.records.back())));
    }
    // While the ledger is not ready no event is written, and a rejection is recorded alone.
    if (disk_.refusals > 0) pattern += "|(spq)+";
    // If the process of a waiting call died, the next start ends the call and decides nothing.
    const Presented* const call = presented(story.trace);
    if (call != nullptr && !call->survived) pattern += "|(spq)+";
    auto known = known_patterns.find(pattern);
    if (known == known_patterns.end())
      known = known_patterns.emplace(pattern, std::regex(pattern)).first;
    if (!std::regex_match(story.letters, known->second)) {
      const Draft* const last = story.records.empty() ? nullptr : &draft(story.records.back());
      complain(story, fmt::format("events `{}` do not end as {} ({}) does", story.letters,
                                  last ? last->outcome : "a call that joined a question",
                                  last ? outcome_text(*last) : ""));
    }
    check_reasons(story);
  }

  // All entries about one decision give one reason, and no guard runs after an allow.
  void check_reasons(const Story& story) {
    static const std::regex late(
        "(idempotency conflict: |in flight: |unknown outcome: |approval_used|approval_expired).*");
    for (std::size_t i = 1; i < story.events.size(); ++i) {
      const char letter = story.letters[i];
      const json::object& event = draft(story.events[i]).body;
      const json::object& before = draft(story.events[i - 1]).body;
      if (letter == 'X' && story.letters[i - 1] == 'a') {
        if (!std::regex_match(text_of(event, "reason"), late)) {
          complain(story, "refused behind an allow: " + text_of(event, "reason"));
        }
      } else if (letter == 'q' || letter == 'n' || (letter == 'd' && story.letters[i - 1] != 's')) {
        if (text_of(event, "reason") != text_of(before, "reason")) {
          complain(story, "two reasons for one decision");
        }
      }
    }
  }

  // AU-38: the start is committed with the intent, the finish with or before the terminal record.
  void check_commits(const Story& story) {
    for (std::size_t i = 0; i < story.events.size(); ++i) {
      const std::uint64_t at = story.events[i];
      if (story.letters[i] == 'E' &&
          (story.intents.empty() || commit(story.intents[0]) != commit(at))) {
        complain(story, "a start without its intent");
      }
      if (story.letters[i] == 'F' &&
          (story.records.empty() || commit(story.records.back()) != commit(at))) {
        complain(story, "a finish without its record");
      }
    }
    if (!story.intents.empty() && story.letters.find('E') == std::string::npos) {
      complain(story, "an intent without its start");
    }
  }

  // The contents of a record belong to its own call.
  void check_contents(const Story& story) {
    static const std::regex owner("answer for ([-0-9a-f]{36})");
    for (const std::uint64_t at : story.records) {
      const Draft& record = draft(at);
      // This record has the guards of the call that was handed out.
      if (record.outcome == "replayed" || outcome_text(record).starts_with("the repeated result "))
        continue;
      for (const json::value& run : record.body.at("guards").as_array()) {
        const json::object* const evidence = object_in(run.as_object(), "evidence");
        if (evidence != nullptr && evidence->contains("of") &&
            text_of(*evidence, "of") != story.call_id) {
          complain(story, "evidence of another call");
        }
      }
      const json::object* const result = object_in(record.body.at("outcome").as_object(), "result");
      std::smatch match;
      const std::string output = result ? text_of(*result, "output").substr(0, 100) : "";
      if (!std::regex_search(output, match, owner)) continue;
      const std::string whose = match[1];
      if (record.outcome != "cached" && whose != story.call_id) {
        complain(story, "the answer to another call");
      }
      if (record.outcome == "cached" && !same_request(whose, story) && !attached(record)) {
        complain(story, "cached from another request");
      }
    }
  }

  // A call that attached to the request of a similar call gets that call's result (AP-36).
  bool attached(const Draft& record) const {
    const json::value* const approval = record.body.if_contains("approval_id");
    if (approval == nullptr || !approval->is_string()) return false;
    return std::ranges::any_of(disk_.entries, [&](const auto& entry) {
      const json::value* const used = entry.draft.body.if_contains("request_id");
      return entry.draft.kind == Kind::Intent && used != nullptr && *used == *approval &&
             entry.draft.subject->call_id != record.subject->call_id;
    });
  }

  bool same_request(const std::string& call_id, const Story& story) const {
    const auto found = stories_.find(call_id);
    if (found == stories_.end()) return false;
    const Presented* const a = presented(found->second.trace);
    const Presented* const b = presented(story.trace);
    return a && b && a->session == b->session && a->id == b->id && a->input == b->input &&
           a->tool == b->tool;
  }

  bool intent_comes_first(const Run& run, const Story* story) const {
    if (!run.operation.empty() || (story != nullptr && !story->joins.empty())) return true;
    for (const std::uint64_t at : story ? story->records : std::vector<std::uint64_t>()) {
      if (draft(at).outcome == "requires_confirmation") return true;
    }
    if (run.relaxed) return false;
    return durability() == core::IntentDurability::Strict ||
           !tool_kind(run.tool).classification.replay_safe();
  }

  core::IntentDurability durability() const { return history_.plans.current()->durability(); }

  void check_runs() {
    for (const Run& run : history_.witness.runs) {
      const auto found = stories_.find(run.call_id);
      const Story* const story = found == stories_.end() ? nullptr : &found->second;
      const auto say = [&](const std::string& text) {
        found_.push_back(fmt::format("{} ({}): {}", run.call_id, run.trace_id, text));
      };
      const bool intended = story != nullptr && !story->intents.empty() &&
                            disk_.entries[story->intents[0]].moment < run.moment;
      if (intent_comes_first(run, story) && !intended) say("it ran before its intent");
      if (story == nullptr && history_.deaths == 0) say("it ran and nothing tells of it");
      const auto stopped = history_.witness.stopped.find(run.call_id);
      if (stopped != history_.witness.stopped.end() && stopped->second < run.moment) {
        say("it ran although a hook refused its announcement");
      }
      if (run.something_owed && !intended) say("it ran while something was owed");
    }
  }

  // A side effect happens once per request, and an id stands for its first request.
  void check_repetitions() {
    std::map<std::string, std::vector<const Run*>> by_id;
    for (const Run& run : history_.witness.runs) {
      const Presented* const call = presented(run.trace_id);
      if (run.began && call && !call->id.empty())
        by_id[call->session + " " + call->id].push_back(&run);
    }
    for (const auto& [id, runs] : by_id) {
      const Run& first = *runs.front();
      for (const Run* const run : runs) {
        if (run == &first) continue;
        const ToolKind& kind = tool_kind(run->tool);
        const Presented& a = *presented(first.trace_id);
        const Presented& b = *presented(run->trace_id);
        // An intent that is written with the outcome is not visible to others before the effect.
        const bool unseen = (history_.two_processes || history_.deaths > 0) &&
                            !(intended_first(first) && intended_first(*run));
        if (unseen) continue;
        const auto say = [&](std::string_view text) {
          found_.push_back(
              fmt::format("{} {} and {}: {}", id, first.trace_id, run->trace_id, text));
        };
        if (a.tool != b.tool || a.input != b.input) say("two requests ran under one id");
        if (kind.outlives && first.operation != run->operation) say("another operation ran");
        if (!kind.outlives && !kind.classification.replay_safe()) say("a side effect ran twice");
      }
    }
  }

  bool intended_first(const Run& run) const {
    const auto found = stories_.find(run.call_id);
    return found != stories_.end() && intent_comes_first(run, &found->second);
  }

  static std::string row_key(const std::string& session, const std::string& id) {
    return KeyedDigest("k")(canonical_json(json::array{session, id}));
  }

  // The rows of idempotency, at each entry and at the end.
  void check_rows() {
    ModelDisk::Facts facts;
    for (std::uint64_t i = 0; i < disk_.entries.size(); ++i) {
      const Draft& entry = draft(i);
      const Story story{.call_id = entry.subject->call_id, .trace = entry.subject->trace_id};
      if (entry.kind == Kind::Intent || entry.outcome == "cached") {
        const std::string key =
            row_key(entry.subject->session_id, text_of(entry.body, "tool_call_id"));
        const auto row = facts.find({"idempotency", key});
        const bool there = row != facts.end();
        const json::value stored =
            there ? parse_own_json(core::split_place(row->second)->value).value() : json::value();
        const bool same = there && stored.at("request_digest") == entry.body.at("request_digest");
        const std::string status = there ? text_of(stored.as_object(), "status") : "";
        const bool claims = std::ranges::any_of(
            entry.facts, [](const core::Fact& fact) { return fact.space == "idempotency"; });
        if (entry.outcome == "cached" && (!same || status != "Completed") && !attached(entry)) {
          complain(story, "cached without a completed row");
        }
        if (entry.kind == Kind::Intent && claims && there &&
            (!same || status == "Completed" ||
             text_of(entry.body, "recovery_class") == "side_effecting")) {
          complain(story, "began over a row that is " + status);
        }
      }
      check_memory(story, entry, facts);
      ModelDisk::apply(entry, i, facts);
    }
    check_rows_at_the_end();
  }

  // A failed attempt does not remove an earlier attempt with an unknown outcome.
  void check_memory(const Story& story, const Draft& entry, const ModelDisk::Facts& facts) {
    for (const core::Fact& fact : entry.facts) {
      if (fact.space != "idempotency") continue;
      const auto row = facts.find({fact.space, fact.key});
      if (row != facts.end() && row->second.find("Unknown") != std::string::npos) {
        unknown_.insert(fact.key);
      }
      if (!fact.value && unknown_.contains(fact.key)) {
        complain(story, "an earlier attempt is forgotten");
      }
    }
  }

  void check_rows_at_the_end() {
    for (const auto& [name, value] : disk_.facts) {
      if (name.first == "open_call" || name.first == "handed_out") {
        found_.push_back(fmt::format("{} still says {}", name.second, name.first));
      }
      if (name.first != "idempotency") continue;
      const json::object row = parse_own_json(core::split_place(value)->value)->as_object();
      const std::string status = text_of(row, "status");
      const Story& story = stories_[text_of(row, "call_id")];
      const std::string effect =
          story.records.empty() ? "(no record)" : effect_of(draft(story.records.back()));
      if (effect != (status == "Completed" ? "done" : "unknown")) {
        found_.push_back(fmt::format("{}: the row is {}, the record says {}",
                                     text_of(row, "call_id"), status, effect));
      }
    }
  }

  // EV-51: first the entries that close dead processes, then `recovery_prepared`, then new work.
  void check_starts() {
    std::set<std::string> prepared;
    for (const ModelDisk::Entry& entry : disk_.entries) {
      if (text_of(entry.draft.body, "kind") == "recovery_prepared") prepared.insert(entry.instance);
      if (entry.draft.kind == Kind::Intent && !prepared.contains(entry.instance)) {
        found_.push_back(entry.instance + " worked before it was prepared");
      }
      if (entry.draft.kind == Kind::ToolAudit && prepared.contains(entry.instance) &&
          outcome_text(entry.draft).starts_with("interrupted:")) {
        found_.push_back(entry.instance + " closed what was left behind its start");
      }
    }
  }

  // Every answer to a client has a record.
  void check_presented() {
    std::set<std::string> recorded;
    for (const auto& [id, story] : stories_) {
      if (!story.records.empty() || !story.joins.empty()) recorded.insert(story.trace);
    }
    for (const auto& [trace, call] : history_.presented) {
      if (call.way == Way::Held && call.survived && !recorded.contains(trace)) {
        found_.push_back(trace + " has no record");
      }
    }
  }

  // AU-24: each approval request has exactly one record about it.
  void check_questions() {
    std::map<std::string, unsigned> asked;
    for (const ModelDisk::Entry& entry : disk_.entries) {
      if (entry.draft.outcome == "requires_confirmation") {
        ++asked[text_of(entry.draft.body, "approval_id")];
      }
    }
    for (const auto& [id, count] : asked) {
      if (count > 1) found_.push_back(fmt::format("{} was asked {} times", id, count));
    }
  }

  const History& history_;
  const ModelDisk& disk_;
  std::vector<std::string> found_;
  std::map<std::string, Story> stories_;
  std::set<std::string> unknown_;  // rows that once had this value
  static inline std::map<std::string, std::regex> known_patterns;
};

}  // namespace

std::vector<std::string> violations_of(const History& history) {
  return Checks(history).all();
}

}  // namespace sallyport::test
