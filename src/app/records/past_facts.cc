#include "app/records/past_facts.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "autonomy/auto_use.h"
#include "autonomy/policy_rules.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/plan/policy_text.h"
#include "grants/token_facts.h"
#include "ledger/opening_check.h"
#include "ledger/query.h"
#include "ledger/store_reader.h"
#include "policy/policy.h"
#include "trust/standing.h"
#include "trust/tally.h"

namespace sallyport::app {

namespace {

constexpr std::string_view kPinned = "tool_pin";
constexpr std::string_view kChanged = "tool_pin_changed";
constexpr std::string_view kBudget = "budget";  // of grants
constexpr std::chrono::hours kLongestWindow{25};

}  // namespace

void PastFacts::set(std::string space, std::string key, std::optional<std::string> value) {
  known_[{std::move(space), std::move(key)}] = std::move(value);
}

// Entries before `as_of_`, opened and in order. What was pruned cannot be counted any more.
Result<void> PastFacts::each(std::map<ledger::Facet, std::string> facets, const Visit& visit) {
  return store_.read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const std::optional<ledger::StoredEntry> first, view.entry(0));
    if (first && !first->bytes) unknown_.insert("entries that were pruned");
    return ledger::find_entries(
        view, {.facets = std::move(facets)},
        [&](const ledger::StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
          if (stored.sequence >= as_of_) return false;
          SALLYPORT_TRY(const json::object entry, ledger::opened_entry(stored));
          if (const json::object* const body = object_in(entry, "body")) {
            SALLYPORT_CHECK_OK(visit(entry, *body));
          }
          return true;
        });
  });
}

Result<std::optional<std::string>> PastFacts::fact(std::string_view space, std::string_view key) {
  const core::FactKey wanted{std::string(space), std::string(key)};
  if (const auto found = known_.find(wanted); found != known_.end()) return found->second;
  SALLYPORT_TRY(std::optional<std::string> value, compute(space, wanted.key));
  return known_[wanted] = std::move(value);
}

Result<std::optional<std::string>> PastFacts::compute(std::string_view space,
                                                      const std::string& key) {
  if (space == trust::kStandingSpace) return standing(key);
  if (space == trust::kTallySpace) return tally(key);
  if (space == autonomy::kUseSpace) return use(key);
  if (space == grants::revoked_fact(key).space) return revoked(key);
  if (space == kPinned || space == kChanged) {
    SALLYPORT_CHECK_OK(read_pins());
    const auto found = known_.find({std::string(space), key});
    return found == known_.end() ? std::nullopt : found->second;
  }
  // These never change once they are there.
  if (space == "ledger" || space == core::kPolicyText) {
    return ledger::StoreReader(store_).fact(space, key);
  }
  if (space == kBudget) unknown_.insert("the budget of the grant");
  return std::nullopt;
}

Result<std::vector<core::Fact>> PastFacts::facts(std::string_view space) {
  if (space == kPinned) SALLYPORT_CHECK_OK(read_pins());
  std::vector<core::Fact> found;
  for (const auto& [key, value] : known_) {
    if (key.space == space && value) found.push_back({key.space, key.key, value});
  }
  return found;
}

Result<json::object> PastFacts::entry(std::uint64_t sequence) {
  return ledger::StoreReader(store_).entry(sequence);
}

Result<core::RecordReader::Moment> PastFacts::moment(const std::vector<core::FactKey>& keys) {
  SALLYPORT_TRY(Moment moment, core::RecordReader::moment(keys));
  moment.size = as_of_;
  return moment;
}

Result<std::optional<std::string>> PastFacts::standing(const std::string& agent) {
  std::optional<trust::ControlHistory> history;
  SALLYPORT_CHECK_OK(
      each({{ledger::Facet::Kind, "trust"}, {ledger::Facet::Agent, agent}},
           [&](const json::object&, const json::object& body) -> Result<void> {
             const Result<trust::TrustRecord> record = trust::trust_record_from_json(body);
             if (!record || !record->is_control()) return {};
             Result<trust::ClaimedControl> claimed = trust::claimed_control(*record, {});
             if (!claimed) return {};
             if (!history) history.emplace();
             history->add(std::move(claimed->statement), std::move(claimed->signature));
             return {};
           }));
  return history ? std::optional(history->text()) : std::nullopt;
}

Result<std::optional<std::string>> PastFacts::tally(const std::string& agent) {
  trust::Tally tally;
  SALLYPORT_CHECK_OK(each({{ledger::Facet::Kind, "trust"}, {ledger::Facet::Agent, agent}},
                          [&](const json::object&, const json::object& body) -> Result<void> {
                            const Result<trust::TrustRecord> record =
                                trust::trust_record_from_json(body);
                            if (record && trust::count_in(*record)) tally.take(record->outcome);
                            return {};
                          }));
  return tally.latest ? std::optional(tally.text()) : std::nullopt;
}

Result<bool> PastFacts::has_budget(const std::string& policy_hash) {
  if (const auto found = budgets_.find(policy_hash); found != budgets_.end()) return found->second;
  ledger::StoreReader records(store_);
  SALLYPORT_TRY(const auto kept, core::kept_policy(records, policy_hash));
  bool budget = false;
  if (!kept) {
    unknown_.insert(fmt::format("the text of the policy {}", policy_hash));
  } else {
    const Result<policy::Policy> policy = policy::read_policy(kept->text, kept->source);
    budget = policy && policy->autonomy && policy->autonomy->budget != autonomy::Budget{};
  }
  return budgets_[policy_hash] = budget;
}

// When the call of an intent was decided: its record says so, if it got one.
Result<WallTime> PastFacts::decided(const json::object& entry, const json::object& body) {
  std::string time = text_or_empty(body, "started_at");
  const ledger::Filter filter{.facets = {{ledger::Facet::Call, text_or_empty(entry, "call_id")},
                                         {ledger::Facet::Kind, "tool_audit"}}};
  SALLYPORT_CHECK_OK(store_.read([&](ledger::ReadView& view) {
    return ledger::find_entries(
        view, filter,
        [&](const ledger::StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
          SALLYPORT_TRY(const json::object record, ledger::opened_entry(stored));
          const json::object* const said = object_in(record, "body");
          if (said && said->contains("decided_at")) time = text_or_empty(*said, "decided_at");
          return true;
        });
  }));
  const std::optional<WallTime> at = from_rfc3339(time);
  if (!at) return fail(ErrorCode::Corrupt, "an intent has no time");
  return *at;
}

// Every dispatch that ran by itself under a policy with a budget (AT-18).
Result<std::optional<std::string>> PastFacts::use(const std::string& agent) {
  struct Dispatch {
    json::object entry;
    json::object body;
  };
  std::vector<Dispatch> dispatches;
  SALLYPORT_CHECK_OK(each({{ledger::Facet::Kind, "intent"}, {ledger::Facet::Agent, agent}},
                          [&](const json::object& entry, const json::object& body) -> Result<void> {
                            const auto started = from_rfc3339(text_or_empty(body, "started_at"));
                            const bool recent = started && *started > at_ - kLongestWindow;
                            const bool counted = text_in(body, "autonomy") == "act_auto" &&
                                                 text_in(body, "autonomy_source") != "observe";
                            if (recent && counted) dispatches.push_back({entry, body});
                            return {};
                          }));
  autonomy::AutoUse use;
  bool any = false;
  for (const Dispatch& dispatch : dispatches) {
    SALLYPORT_TRY(const bool budget, has_budget(text_or_empty(dispatch.entry, "policy_hash")));
    if (!budget) continue;
    SALLYPORT_TRY(const WallTime time, decided(dispatch.entry, dispatch.body));
    use.add_dispatch(time);
    any = true;
  }
  return any ? std::optional(use.text()) : std::nullopt;
}

Result<std::optional<std::string>> PastFacts::revoked(const std::string& id) {
  std::optional<std::string> place;
  SALLYPORT_CHECK_OK(each({{ledger::Facet::Kind, "control"}},
                          [&](const json::object& entry, const json::object& body) -> Result<void> {
                            const bool revokes = text_in(body, "control") == "grant_revoked" &&
                                                 text_in(body, "grant_id") == id;
                            if (revokes) {
                              place = fmt::format("revoked@{}",
                                                  number_in(entry, "sequence").value_or(0));
                            }
                            return {};
                          }));
  return place;
}

Result<void> PastFacts::read_pins() {
  if (std::exchange(pins_read_, true)) return {};
  return each(
      {{ledger::Facet::Topic, "tool_pins"}},
      [&](const json::object& entry, const json::object& body) -> Result<void> {
        const std::string key = canonical_json(
            json::array{text_or_empty(entry, "server"), text_or_empty(entry, "tool_name")});
        const std::string placed = fmt::format("{}@{}", text_or_empty(body, "definition_hash"),
                                               number_in(entry, "sequence").value_or(0));
        const std::string what = text_or_empty(body, "record");
        const auto put = [&](std::string_view space, std::optional<std::string> value) {
          const core::FactKey wanted{std::string(space), key};
          if (value) {
            known_[wanted] = std::move(value);
          } else {
            known_.erase(wanted);
          }
        };
        if (what == "tool_changed") put(kChanged, placed);
        if (what == "tool_pinned" || what == "tool_accepted" || what == "tool_repinned") {
          put(kPinned, placed);
        }
        if (what == "tool_accepted" || what == "tool_repinned" || what == "tool_unchanged") {
          put(kChanged, std::nullopt);
        }
        return {};
      });
}

}  // namespace sallyport::app
