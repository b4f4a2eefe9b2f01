#include "workbench/backtest.h"

#include <algorithm>
#include <boost/json.hpp>
#include <numeric>
#include <tuple>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/record/read_field.h"
#include "ledger/read/look_at.h"
#include "ledger/read/stored_entry.h"
#include "records/opened_entries.h"

namespace sallyport::app {

namespace {

constexpr core::Word<CallChange> kCallChanges[] = {{"same", CallChange::Same},
                                                   {"loosened", CallChange::Loosened},
                                                   {"tightened", CallChange::Tightened},
                                                   {"other", CallChange::Other}};
constexpr core::Word<CallDifference> kCallDifferences[] = {{"", CallDifference::None},
                                                           {"decider", CallDifference::Decider},
                                                           {"reason", CallDifference::Reason},
                                                           {"input", CallDifference::Input},
                                                           {"released", CallDifference::Released}};

Decided decided(const Explained& explained) {
  const Cause& decider = explained.decider;
  return {
      .verdict = explained.verdict(),
      .by = std::string(to_string(decider.kind)) + (decider.name.empty() ? "" : " " + decider.name),
      .reason = explained.now.refusal.value_or(""),
      .input = explained.now.call.input,
      .release = explained.release};
}

std::size_t sum(const std::map<std::string, std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0},
                         [](std::size_t all, const auto& one) { return all + one.second; });
}

// The last record of a call, and how many entries its facts were read at.
struct LastRecord {
  std::uint64_t sequence = 0;
  std::uint64_t as_of = 0;
};
struct LastRecords {
  std::vector<LastRecord> newest{};
  std::size_t older = 0;
};

// The records that end calls, and of calls without an end the last one; in the order of their
// facts.
Result<LastRecords> places_of(ledger::ReadView& view, ledger::Filter filter, std::size_t most) {
  filter.facets[ledger::Facet::Kind] = "tool_audit";
  std::map<std::string, LastRecord> open;
  std::vector<LastRecord> all;
  SALLYPORT_CHECK_OK(
      visit_opened(view, filter, [&](const json::object& entry, const json::object& body) {
        const std::string call = text_or_empty(entry, "call_id");
        const LastRecord place{number_in(entry, "sequence").value_or(0),
                               number_in(body, "as_of").value_or(0)};
        if (bool_in(body, "terminal").value_or(false)) {
          open.erase(call);
          all.push_back(place);
        } else {
          open[call] = place;
        }
        return true;
      }));
  for (const auto& [call, place] : open) all.push_back(place);
  std::ranges::sort(all, {}, &LastRecord::sequence);
  const std::size_t older = all.size() > most ? all.size() - most : 0;
  all.erase(all.begin(), all.begin() + static_cast<long>(older));
  std::ranges::sort(all, {},
                    [](const LastRecord& one) { return std::pair(one.as_of, one.sequence); });
  return LastRecords{.newest = std::move(all), .older = older};
}

// One call with the decisions of both policies.
struct Compared {
  std::uint64_t sequence = 0;
  std::string call_id{};
  std::string session{};
  std::string agent{};
  std::string input{};  // its digest
  std::string server{};
  std::string tool{};
  std::string effect_class{};
  Decided before{};
  Decided after{};
};

class Backtesting {
 public:
  Backtesting(const ExplainScene& scene, const BacktestTerms& terms)
      : scene_(scene), memory_(*scene.store), terms_(terms) {
    scene_.memory = &memory_;
  }

  Result<Backtest> run() {
    SALLYPORT_TRY(const LastRecords places,
                  ledger::look_at(*scene_.store, [&](ledger::ReadView& view) {
                    return places_of(view, terms_.filter, terms_.most);
                  }));
    test_.older = places.older;
    for (const LastRecord& place : places.newest) SALLYPORT_CHECK_OK(take(place.sequence));
    std::ranges::sort(changed_, {}, &Compared::sequence);
    for (const Compared& call : changed_) put(call);
    for (auto& [key, group] : groups_) test_.groups.push_back(std::move(group));
    const auto rank = [](const ChangedCalls& group) {
      return group.change == CallChange::Loosened    ? 0
             : group.change == CallChange::Tightened ? 1
                                                     : 2;
    };
    std::ranges::sort(test_.groups, [&](const ChangedCalls& a, const ChangedCalls& b) {
      return std::tuple(rank(a), b.calls, a.first) < std::tuple(rank(b), a.calls, b.first);
    });
    return std::move(test_);
  }

 private:
  Result<std::optional<json::object>> entry_at(std::uint64_t sequence) {
    using Found = Result<std::optional<json::object>>;
    return ledger::look_at(*scene_.store, [&](ledger::ReadView& view) -> Found {
      SALLYPORT_TRY(const std::optional<ledger::StoredEntry> stored, view.entry(sequence));
      if (!stored || !stored->bytes) return std::nullopt;
      return ledger::opened_entry(*stored);
    });
  }

  Result<Explained> explained(const AskedCall& asked, std::optional<NamedPolicy> policy) {
    return explain(scene_, asked,
                   {.policy = std::move(policy), .with_changes = false, .with_result = true});
  }

  Result<void> take(std::uint64_t sequence) {
    SALLYPORT_TRY(const std::optional<json::object> entry, entry_at(sequence));
    const json::object* const body = entry ? object_in(*entry, "body") : nullptr;
    if (body == nullptr) return {};  // pruned since it was listed
    ++test_.selected;
    const AskedCall asked = asked_in(*entry, *body);
    test_.sessions.insert(asked.call.session_id);
    test_.agents.insert(asked.call.agent_id);
    const std::string at = text_or_empty(*entry, "recorded_at");
    test_.until = std::max(test_.until, at);
    test_.since = test_.since.empty() ? at : std::min(test_.since, at);
    SALLYPORT_TRY(Explained before, explained(asked, std::nullopt));
    if (before.then->reproduced == false) {
      ++test_.not_reproduced[before.undecided->reason];
      return {};
    }
    if (terms_.against && !before.undecided) {
      SALLYPORT_TRY(before, explained(asked, terms_.against));
    }
    SALLYPORT_TRY(const Explained after, explained(asked, terms_.candidate));
    const auto& undecided = before.undecided ? before.undecided : after.undecided;
    if (undecided) {
      ++test_.undecided[undecided->reason];
      return {};
    }
    compare({.sequence = sequence,
             .call_id = text_or_empty(*entry, "call_id"),
             .session = asked.call.session_id,
             .agent = asked.call.agent_id,
             .input = hex(sha256(canonical_json(asked.call.input))),
             .server = asked.call.server,
             .tool = asked.call.tool,
             .effect_class = after.now.classification.effect_class,
             .before = decided(before),
             .after = decided(after)});
    return {};
  }

  void compare(Compared call) {
    const CallChange change = change_between(call.before, call.after);
    const CallVerdict before = call.before.verdict;
    const CallVerdict after = call.after.verdict;
    ++test_.changes[change];
    if (after == CallVerdict::Refused && before != CallVerdict::Refused) ++test_.newly_refused;
    if (before == CallVerdict::Runs && after == CallVerdict::Runs) {
      const bool known = call.before.release && call.after.release;
      ++(known ? test_.results : test_.results_not_kept);
    }
    if (change != CallChange::Same) changed_.push_back(std::move(call));
  }

  // In recorded order.
  void put(const Compared& call) {
    const CallChange change = change_between(call.before, call.after);
    const CallDifference differs = change == CallChange::Other
                                       ? difference_between(call.before, call.after)
                                       : CallDifference::None;
    const bool released = differs == CallDifference::Released;
    const std::string before_by = released ? result_decider(call.before) : call.before.by;
    const std::string after_by = released ? result_decider(call.after) : call.after.by;
    ChangedCalls& group = groups_[{call.before.verdict, call.after.verdict, call.server, call.tool,
                                   call.effect_class, before_by, after_by, differs}];
    if (group.calls++ == 0) {
      group.change = change;
      group.before = call.before.verdict;
      group.after = call.after.verdict;
      group.server = call.server;
      group.tool = call.tool;
      group.effect_class = call.effect_class;
      group.before_by = before_by;
      group.after_by = after_by;
      group.differs = differs;
      group.first = call.call_id;
    }
    group.last = call.call_id;
    if (group.examples.size() < terms_.examples) group.examples.push_back(call.call_id);
    group.sessions.insert(call.session);
    group.agents.insert(call.agent);
    group.inputs.insert(call.input);
  }

  // Guards of results have names of their own: `rule ID`, `output-sanitizer`, `guardrails`.
  static std::string result_decider(const Decided& decision) {
    return decision.release && !decision.release->by.empty() ? "result " + decision.release->by
                                                             : "no guard";
  }

  ExplainScene scene_;
  ExplainMemory memory_;
  const BacktestTerms& terms_;
  Backtest test_;
  std::vector<Compared> changed_;
  // Verdicts, server, tool, class, deciders and difference.
  using GroupKey = std::tuple<CallVerdict, CallVerdict, std::string, std::string, std::string,
                              std::string, std::string, CallDifference>;
  std::map<GroupKey, ChangedCalls> groups_;
};

}  // namespace

std::string_view to_string(CallChange change) {
  return core::word_of(kCallChanges, change);
}

CallChange change_between(const Decided& before, const Decided& after) {
  if (after.verdict > before.verdict) return CallChange::Loosened;
  if (after.verdict < before.verdict) return CallChange::Tightened;
  const bool same = difference_between(before, after) == CallDifference::None;
  return same ? CallChange::Same : CallChange::Other;
}

std::string_view to_string(CallDifference difference) {
  return core::word_of(kCallDifferences, difference);
}

CallDifference difference_between(const Decided& before, const Decided& after) {
  if (before.by != after.by) return CallDifference::Decider;
  if (before.reason != after.reason) return CallDifference::Reason;
  if (before.input != after.input) return CallDifference::Input;
  const bool known = before.release && after.release;
  return known && before.release->released != after.release->released ? CallDifference::Released
                                                                      : CallDifference::None;
}

std::size_t Backtest::undecided_calls() const {
  return sum(undecided);
}

std::size_t Backtest::lost_calls() const {
  return sum(not_reproduced);
}

Result<Backtest> backtest(const ExplainScene& scene, const BacktestTerms& terms) {
  return Backtesting(scene, terms).run();
}

}  // namespace sallyport::app
