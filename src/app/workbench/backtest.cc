#include "app/workbench/backtest.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <numeric>
#include <tuple>

#include "app/records/opened_entries.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "ledger/read/look_at.h"
#include "ledger/write/opening_check.h"

namespace sallyport::app {

namespace {

constexpr auto kOpenness =
    std::to_array<std::string_view>({"refused", "shadow", "proposed", "asks", "runs"});

auto openness(std::string_view verdict) {
  return std::ranges::find(kOpenness, verdict) - kOpenness.begin();
}

Decided decided(const Explained& explained) {
  return {.verdict = std::string(explained.verdict()),
          .by = explained.decider.kind +
                (explained.decider.name.empty() ? "" : " " + explained.decider.name),
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

// One call that is decided alike or otherwise.
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
    for (const Compared& one : changed_) put(one);
    for (auto& [key, group] : groups_) test_.groups.push_back(std::move(group));
    const auto rank = [](const ChangedCalls& group) {
      return group.change == "loosened" ? 0 : group.change == "tightened" ? 1 : 2;
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

  void compare(Compared one) {
    const std::string change(change_between(one.before, one.after));
    ++test_.changes[change];
    if (one.after.verdict == "refused" && one.before.verdict != "refused") ++test_.newly_refused;
    if (one.before.verdict == "runs" && one.after.verdict == "runs") {
      const bool known = one.before.release && one.after.release;
      ++(known ? test_.results : test_.results_not_kept);
    }
    if (change != "same") changed_.push_back(std::move(one));
  }

  // In recorded order.
  void put(const Compared& one) {
    const std::string change(change_between(one.before, one.after));
    const std::string differs(change == "other" ? difference_between(one.before, one.after) : "");
    const bool released = differs == "released";
    const std::string before_by = released ? result_decider(one.before) : one.before.by;
    const std::string after_by = released ? result_decider(one.after) : one.after.by;
    ChangedCalls& group = groups_[{one.before.verdict, one.after.verdict, one.server, one.tool,
                                   one.effect_class, before_by, after_by, differs}];
    if (group.calls++ == 0) {
      group.change = change;
      group.before = one.before.verdict;
      group.after = one.after.verdict;
      group.server = one.server;
      group.tool = one.tool;
      group.effect_class = one.effect_class;
      group.before_by = before_by;
      group.after_by = after_by;
      group.differs = differs;
      group.first = one.call_id;
    }
    group.last = one.call_id;
    if (group.examples.size() < terms_.examples) group.examples.push_back(one.call_id);
    group.sessions.insert(one.session);
    group.agents.insert(one.agent);
    group.inputs.insert(one.input);
  }

  // Guards of results have names of their own: `rule ID`, `output-sanitizer`, `guardrails`.
  static std::string result_decider(const Decided& one) {
    return one.release && !one.release->by.empty() ? "result " + one.release->by : "no guard";
  }

  ExplainScene scene_;
  ExplainMemory memory_;
  const BacktestTerms& terms_;
  Backtest test_;
  std::vector<Compared> changed_;
  std::map<std::array<std::string, 8>, ChangedCalls> groups_;
};

}  // namespace

std::string_view change_between(const Decided& before, const Decided& after) {
  const auto was = openness(before.verdict);
  const auto is = openness(after.verdict);
  if (is > was) return "loosened";
  if (is < was) return "tightened";
  return difference_between(before, after).empty() ? "same" : "other";
}

std::string_view difference_between(const Decided& before, const Decided& after) {
  if (before.by != after.by) return "decider";
  if (before.reason != after.reason) return "reason";
  if (before.input != after.input) return "input";
  const bool known = before.release && after.release;
  return known && before.release->released != after.release->released ? "released" : "";
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
