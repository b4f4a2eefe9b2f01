#include "records/fact_history.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "autonomy/policy_rules.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/plan/policy_text.h"
#include "grants/token_facts.h"
#include "ledger/read/store_reader.h"
#include "policy/policy.h"
#include "records/opened_entries.h"

namespace sallyport::app {

namespace {

constexpr std::string_view kPinned = "tool_pin";
constexpr std::string_view kChanged = "tool_pin_changed";

std::string revoked_space() {
  return grants::revoked_fact("").space;
}

}  // namespace

FactHistory::FactHistory(ledger::LedgerStore& store)
    : store_(store),
      trust_{{{ledger::Facet::Kind, "trust"}}, &FactHistory::take_trust},
      intents_{{{ledger::Facet::Kind, "intent"}}, &FactHistory::take_intent},
      controls_{{{ledger::Facet::Kind, "control"}}, &FactHistory::take_control},
      pins_{{{ledger::Facet::Topic, "tool_pins"}}, &FactHistory::take_pin},
      all_{{}, &FactHistory::take_budget} {}

bool FactHistory::knows(std::string_view space) {
  return space == trust::kStandingSpace || space == trust::kTallySpace ||
         space == autonomy::kUseSpace || BudgetHistory::knows(space) || space == revoked_space() ||
         space == kPinned || space == kChanged;
}

FactHistory::Lane* FactHistory::lane_of(std::string_view space) {
  if (space == trust::kStandingSpace || space == trust::kTallySpace) return &trust_;
  if (space == autonomy::kUseSpace) return &intents_;
  if (space == kPinned || space == kChanged) return &pins_;
  if (BudgetHistory::knows(space)) return &all_;
  return space == revoked_space() ? &controls_ : nullptr;
}

Result<std::optional<std::string>> FactHistory::fact(std::string_view space, const std::string& key,
                                                     std::uint64_t as_of,
                                                     std::set<std::string>& unknown) {
  Lane* const lane = lane_of(space);
  if (lane == nullptr) return std::nullopt;
  if (lane == &all_) {
    ledger::StoreReader records(store_);
    SALLYPORT_TRY(std::vector<grants::KnownToken> tokens, grants::known_tokens(records));
    grants_.set_known_tokens(std::move(tokens));
  }
  SALLYPORT_CHECK_OK(advance(*lane, as_of, unknown));
  if (lane == &all_) return grants_.fact(space, key, unknown);
  if (space == trust::kStandingSpace) {
    const auto found = standings_.find(key);
    return found == standings_.end() ? std::nullopt : std::optional(found->second.text());
  }
  if (space == trust::kTallySpace) {
    const auto found = tallies_.find(key);
    return found == tallies_.end() ? std::nullopt : std::optional(found->second.text());
  }
  if (space == autonomy::kUseSpace) {
    const auto found = uses_.find(key);
    if (found == uses_.end()) return std::nullopt;
    unknown.insert(found->second.unknown.begin(), found->second.unknown.end());
    return found->second.any ? std::optional(found->second.counted.text()) : std::nullopt;
  }
  const auto found = placed_.find({std::string(space), key});
  return found == placed_.end() ? std::nullopt : std::optional(found->second);
}

Result<std::vector<core::Fact>> FactHistory::facts(std::string_view space, std::uint64_t as_of,
                                                   std::set<std::string>& unknown) {
  std::vector<core::Fact> found;
  Lane* const lane = lane_of(space);
  if (lane == nullptr) return found;
  SALLYPORT_CHECK_OK(advance(*lane, as_of, unknown));
  for (const auto& [key, value] : placed_) {
    if (key.space == space) found.push_back({key.space, key.key, value});
  }
  return found;
}

// Takes the entries before `as_of` that were not taken yet, opened and in order. Pruned entries
// make a fact unknown.
Result<void> FactHistory::advance(Lane& lane, std::uint64_t as_of, std::set<std::string>& unknown) {
  if (lane.next > as_of) forget(lane);
  if (lane.next > as_of) lane.next = 0;
  ledger::Filter filter{.facets = lane.facets, .before = as_of};
  if (lane.next > 0) filter.after = lane.next - 1;
  failed_.reset();
  SALLYPORT_CHECK_OK(store_.read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const std::optional<ledger::StoredEntry> first, view.entry(0));
    if (first && !first->bytes) unknown.insert("entries that were pruned");
    return visit_opened(view, filter, [&](const json::object& entry, const json::object& body) {
      (this->*lane.take)(entry, body);
      return !failed_;
    });
  }));
  if (failed_) {
    lane.next = as_of + 1;  // read again from the start when it is asked for again
    return std::unexpected(*failed_);
  }
  lane.next = as_of;
  return {};
}

void FactHistory::add_token(const grants::TokenChain& chain) {
  if (!grants_.add_token(chain)) return;
  grants_.forget();
  all_.next = 0;
}

void FactHistory::forget(const Lane& lane) {
  if (&lane == &all_) grants_.forget();
  if (&lane == &trust_) {
    standings_.clear();
    tallies_.clear();
  }
  if (&lane == &intents_) uses_.clear();
  const bool pins = &lane == &pins_;
  if (!pins && &lane != &controls_) return;
  std::erase_if(placed_,
                [&](const auto& one) { return pins != (one.first.space == revoked_space()); });
}

void FactHistory::take_trust(const json::object& entry, const json::object& body) {
  const Result<trust::TrustRecord> record = trust::trust_record_from_json(body);
  if (!record) return;
  const std::string agent = text_or_empty(entry, "agent_id");
  if (trust::count_in(*record)) tallies_[agent].take(record->outcome);
  if (!record->is_control()) return;
  Result<trust::ClaimedControl> claimed = trust::claimed_control(*record, {});
  if (!claimed) return;
  standings_[agent].add(std::move(claimed->statement), std::move(claimed->signature));
}

// Counts each automatic dispatch under a policy with a budget (AT-18).
void FactHistory::take_intent(const json::object& entry, const json::object& body) {
  const bool counted =
      text_in(body, "autonomy") == "act_auto" && text_in(body, "autonomy_source") != "observe";
  if (!counted) return;
  Use& use = uses_[text_or_empty(entry, "agent_id")];
  const Result<bool> budget = has_budget(text_or_empty(entry, "policy_hash"), use);
  if (!budget) failed_ = budget.error();
  if (!budget || !*budget) return;
  const Result<WallTime> time = decided(entry, body);
  if (!time) {
    failed_ = time.error();
    return;
  }
  use.counted.add_dispatch(*time);
  use.any = true;
}

void FactHistory::take_control(const json::object& entry, const json::object& body) {
  if (text_in(body, "control") != "grant_revoked") return;
  placed_[{revoked_space(), text_or_empty(body, "grant_id")}] =
      fmt::format("revoked@{}", number_in(entry, "sequence").value_or(0));
}

void FactHistory::take_budget(const json::object& entry, const json::object& body) {
  const Result<void> taken = grants_.take(entry, body);
  if (!taken) failed_ = taken.error();
}

void FactHistory::take_pin(const json::object& entry, const json::object& body) {
  const std::string key = canonical_json(
      json::array{text_or_empty(entry, "server"), text_or_empty(entry, "tool_name")});
  const std::string placed = fmt::format("{}@{}", text_or_empty(body, "definition_hash"),
                                         number_in(entry, "sequence").value_or(0));
  const std::string what = text_or_empty(body, "record");
  if (what == "tool_changed") placed_[{std::string(kChanged), key}] = placed;
  if (what == "tool_pinned" || what == "tool_accepted" || what == "tool_repinned") {
    placed_[{std::string(kPinned), key}] = placed;
  }
  if (what == "tool_accepted" || what == "tool_repinned" || what == "tool_unchanged") {
    placed_.erase({std::string(kChanged), key});
  }
}

Result<bool> FactHistory::has_budget(const std::string& policy_hash, Use& use) {
  auto found = budgets_.find(policy_hash);
  if (found == budgets_.end()) {
    ledger::StoreReader records(store_);
    SALLYPORT_TRY(const auto kept, core::kept_policy(records, policy_hash));
    std::optional<bool> budget;
    if (kept) {
      const Result<policy::Policy> policy = policy::read_policy(kept->text, kept->source);
      budget = policy && policy->autonomy && policy->autonomy->budget != autonomy::Budget{};
    }
    found = budgets_.emplace(policy_hash, budget).first;
  }
  if (!found->second) use.unknown.insert(fmt::format("the text of the policy {}", policy_hash));
  return found->second.value_or(false);
}

// The time at which the call of an intent was decided: from its audit record, else its start.
Result<WallTime> FactHistory::decided(const json::object& entry, const json::object& body) {
  std::string time = text_or_empty(body, "started_at");
  const ledger::Filter filter{.facets = {{ledger::Facet::Call, text_or_empty(entry, "call_id")},
                                         {ledger::Facet::Kind, "tool_audit"}}};
  SALLYPORT_CHECK_OK(store_.read([&](ledger::ReadView& view) {
    return visit_opened(view, filter, [&](const json::object&, const json::object& audit_record) {
      if (audit_record.contains("decided_at")) time = text_or_empty(audit_record, "decided_at");
      return true;
    });
  }));
  const std::optional<WallTime> at = from_rfc3339(time);
  if (!at) return fail(ErrorCode::Corrupt, "an intent has no time");
  return *at;
}

}  // namespace sallyport::app
