#include "records/budget_history.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "grants/spending.h"

namespace sallyport::app {

namespace {

// The evidence of the grant of a call; null: the call has none.
const json::object* grant_evidence(const json::object& body) {
  const json::value* const guards = body.if_contains("guards");
  if (guards == nullptr || !guards->is_array()) return nullptr;
  for (const json::value& each : guards->get_array()) {
    const json::object* const run = each.if_object();
    const json::object* const evidence = run ? object_in(*run, "evidence") : nullptr;
    if (evidence && evidence->contains("grant_digest") &&
        number_in(*evidence, "matched_grant_index")) {
      return evidence;
    }
  }
  return nullptr;
}

std::string outcome_of(const json::object& body) {
  const json::object* const outcome = object_in(body, "outcome");
  return outcome ? text_or_empty(*outcome, "kind") : std::string();
}

// The digest of a key of a counter, or of one of its charges.
std::string_view digest_of(std::string_view key) {
  return key.substr(0, key.find('/'));
}

}  // namespace

bool BudgetHistory::knows(std::string_view space) {
  return space == "budget" || space == "budget_charge";
}

bool BudgetHistory::add_token(const grants::TokenChain& chain) {
  bool added = false;
  for (std::size_t i = 0; i < chain.leaf().grants.size(); ++i) {
    const core::Spending spending = grants::spending_of(chain, i);
    added = spendings_.emplace(spending.limits.front().key, spending).second || added;
    for (const core::Limit& limit : spending.limits) limits_.emplace(limit.key, limit);
  }
  return added;
}

const grants::KnownToken* BudgetHistory::token(std::string_view digest) const {
  const auto found = std::ranges::find(tokens_, digest, &grants::KnownToken::digest);
  return found == tokens_.end() ? nullptr : &*found;
}

core::Spending BudgetHistory::spending_of(const json::object& evidence) {
  const std::string digest = text_or_empty(evidence, "grant_digest");
  const std::string key = grants::counter_key(digest, *number_in(evidence, "matched_grant_index"));
  if (const auto found = spendings_.find(key); found != spendings_.end()) return found->second;
  core::Spending spending;
  const auto add = [&](const std::string& one) {
    const auto known = limits_.find(one);
    spending.limits.push_back(known == limits_.end() ? core::Limit{.key = one} : known->second);
  };
  add(key);
  const grants::KnownToken* at = token(digest);
  if (at == nullptr) incomplete_.insert("");
  while (at != nullptr && !at->parent.empty()) {
    const grants::KnownToken* const parent = token(at->parent);
    // If the parent has several grants, only the token itself names the one that it came from.
    if (parent == nullptr) incomplete_.insert("");
    if (parent && parent->grants != 1) incomplete_.insert(parent->digest);
    if (parent && parent->grants == 1) add(grants::counter_key(parent->digest, 0));
    at = parent;
  }
  return spending;
}

Result<void> BudgetHistory::change(const core::FactChange& change) {
  SALLYPORT_TRY(const std::vector<core::Fact> facts,
                change.facts([&](std::string_view space,
                                 std::string_view key) -> Result<std::optional<std::string>> {
                  const auto found = stored_.find({std::string(space), std::string(key)});
                  return found == stored_.end() ? std::nullopt : std::optional(found->second);
                }));
  for (const core::Fact& fact : facts) {
    if (fact.value) {
      stored_[{fact.space, fact.key}] = *fact.value;
    } else {
      stored_.erase({fact.space, fact.key});
    }
  }
  return {};
}

Result<void> BudgetHistory::take(const json::object& entry, const json::object& body) {
  const std::string kind = text_or_empty(entry, "kind");
  const std::string call = text_or_empty(entry, "call_id");
  const bool asks = kind == "tool_audit" && outcome_of(body) == "requires_confirmation";
  if (kind == "intent" || asks) {
    const json::object* const evidence = grant_evidence(body);
    if (evidence == nullptr) return {};
    core::Spending spending = spending_of(*evidence);
    // The budget had room then, so no limit is checked again.
    for (core::Limit& limit : spending.limits) {
      limit.max.reset();
      if (asks) limit.rate.reset();
    }
    if (asks) return change(*core::budgets::reserve(std::move(spending), {call, ""}, WallTime()));
    const std::optional<WallTime> began = from_rfc3339(text_or_empty(body, "started_at"));
    if (!began) return fail(ErrorCode::Corrupt, "an intent has no time");
    return change(*core::budgets::charge(std::move(spending), {call, ""}, *began));
  }
  const std::string record = text_or_empty(body, "record");
  const bool ends = kind == "tool_audit" && bool_in(body, "terminal").value_or(false);
  const bool refused = record == "approval_decision" && !bool_in(body, "approved").value_or(false);
  if (ends || refused || record == "hold_reversed") return change(*core::budgets::reverse(call));
  return {};
}

void BudgetHistory::forget() {
  stored_.clear();
  incomplete_.clear();
}

std::optional<std::string> BudgetHistory::fact(std::string_view space, const std::string& key,
                                               std::set<std::string>& unknown) const {
  const std::string_view digest = digest_of(key);
  const std::string counter =
      space == "budget_charge" ? key.substr(0, key.rfind('/')) : std::string();
  const bool complete = !incomplete_.contains("") && !incomplete_.contains(std::string(digest)) &&
                        (counter.empty() || limits_.contains(counter));
  if (!complete) unknown.insert("the budget of the grant");
  const auto found = stored_.find({std::string(space), key});
  return found == stored_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sallyport::app
