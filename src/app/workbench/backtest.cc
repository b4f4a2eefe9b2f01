#include "app/workbench/backtest.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <deque>
#include <numeric>
#include <tuple>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "ledger/opening_check.h"

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
          .input = explained.now.call.input};
}

std::size_t sum(const std::map<std::string, std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0},
                         [](std::size_t all, const auto& one) { return all + one.second; });
}

// Where the last record of each call stands, oldest first.
struct Places {
  std::deque<std::uint64_t> newest{};
  std::size_t older = 0;
};

// The records that end calls, and of calls without an end the last one.
Result<Places> places_of(ledger::ReadView& view, ledger::Filter filter, std::size_t most) {
  filter.facets[ledger::Facet::Kind] = "tool_audit";
  std::map<std::string, std::uint64_t> open;
  std::vector<std::uint64_t> all;
  SALLYPORT_CHECK_OK(ledger::find_entries(
      view, filter,
      [&](const ledger::StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
        SALLYPORT_TRY(const json::object entry, ledger::opened_entry(stored));
        const json::object* const body = object_in(entry, "body");
        if (body == nullptr) return true;
        const std::string call = text_or_empty(entry, "call_id");
        if (bool_in(*body, "terminal").value_or(false)) {
          open.erase(call);
          all.push_back(stored.sequence);
        } else {
          open[call] = stored.sequence;
        }
        return true;
      }));
  for (const auto& [call, sequence] : open) all.push_back(sequence);
  std::ranges::sort(all);
  const std::size_t older = all.size() > most ? all.size() - most : 0;
  return Places{.newest = {all.begin() + static_cast<long>(older), all.end()}, .older = older};
}

class Backtesting {
 public:
  Backtesting(const ExplainScene& scene, const BacktestTerms& terms)
      : scene_(scene), terms_(terms) {}

  Result<Backtest> run() {
    Places places;
    SALLYPORT_CHECK_OK(scene_.store->read([&](ledger::ReadView& view) -> Result<void> {
      SALLYPORT_TRY(places, places_of(view, terms_.filter, terms_.most));
      return {};
    }));
    test_.older = places.older;
    for (const std::uint64_t sequence : places.newest) SALLYPORT_CHECK_OK(take(sequence));
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
    std::optional<json::object> entry;
    SALLYPORT_CHECK_OK(scene_.store->read([&](ledger::ReadView& view) -> Result<void> {
      SALLYPORT_TRY(const std::optional<ledger::StoredEntry> stored, view.entry(sequence));
      if (!stored || !stored->bytes) return {};
      SALLYPORT_TRY(entry, ledger::opened_entry(*stored));
      return {};
    }));
    return entry;
  }

  Result<Explained> explained(const AskedCall& asked, std::optional<NamedPolicy> policy) {
    return explain(scene_, asked, {.policy = std::move(policy), .with_changes = false});
  }

  Result<void> take(std::uint64_t sequence) {
    SALLYPORT_TRY(const std::optional<json::object> entry, entry_at(sequence));
    const json::object* const body = entry ? object_in(*entry, "body") : nullptr;
    if (body == nullptr) return {};  // pruned since it was listed
    ++test_.selected;
    const AskedCall asked = asked_in(*entry, *body);
    test_.sessions.insert(asked.call.session_id);
    test_.agents.insert(asked.call.agent_id);
    test_.until = text_or_empty(*entry, "recorded_at");
    if (test_.since.empty()) test_.since = test_.until;
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
    compare(text_or_empty(*entry, "call_id"), asked, before, after);
    return {};
  }

  void compare(const std::string& call_id, const AskedCall& asked, const Explained& before,
               const Explained& after) {
    const Decided then = decided(before);
    const Decided now = decided(after);
    const std::string change(change_between(then, now));
    ++test_.changes[change];
    if (now.verdict == "refused" && then.verdict != "refused") ++test_.newly_refused;
    if (change == "same") return;
    const std::string& effect_class = after.now.classification.effect_class;
    ChangedCalls& group = groups_[{then.verdict, now.verdict, asked.call.server, asked.call.tool,
                                   effect_class, then.by, now.by}];
    if (group.calls++ == 0) {
      group.change = change;
      group.before = then.verdict;
      group.after = now.verdict;
      group.server = asked.call.server;
      group.tool = asked.call.tool;
      group.effect_class = effect_class;
      group.before_by = then.by;
      group.after_by = now.by;
      group.first = call_id;
    }
    group.last = call_id;
    if (group.examples.size() < terms_.examples) group.examples.push_back(call_id);
    group.sessions.insert(asked.call.session_id);
    group.agents.insert(asked.call.agent_id);
    group.inputs.insert(hex(sha256(canonical_json(asked.call.input))));
  }

  const ExplainScene& scene_;
  const BacktestTerms& terms_;
  Backtest test_;
  std::map<std::array<std::string, 7>, ChangedCalls> groups_;
};

}  // namespace

std::string_view change_between(const Decided& before, const Decided& after) {
  const auto was = openness(before.verdict);
  const auto is = openness(after.verdict);
  if (is > was) return "loosened";
  if (is < was) return "tightened";
  const bool alike =
      before.by == after.by && before.reason == after.reason && before.input == after.input;
  return alike ? "same" : "other";
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
