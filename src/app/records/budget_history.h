// Recomputes from entries what calls spent from the budgets of their grants (WB-10): the changes of
// the calls are applied again to an empty store.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/plan/budgets.h"
#include "core/record/recorder.h"
#include "grants/token.h"
#include "grants/token_facts.h"

namespace sallyport::app {

// Used on one thread.
class BudgetHistory {
 public:
  static bool knows(std::string_view space);

  // A token, which says what entries do not: its rates, and which grant came from which. True: it
  // says something new, and entries have to be taken again from the start.
  bool learn(const grants::TokenChain& chain);
  // Tokens that the ledger has seen, by which calls under narrower tokens are told.
  void learn(std::vector<grants::KnownToken> tokens) { tokens_ = std::move(tokens); }

  // Entries in order, opened.
  Result<void> take(const json::object& entry, const json::object& body);
  void forget();

  // Describes in `unknown` what cannot be recomputed.
  std::optional<std::string> fact(std::string_view space, const std::string& key,
                                  std::set<std::string>& unknown) const;

 private:
  core::Spending spending_of(const json::object& evidence);
  const grants::KnownToken* token(std::string_view digest) const;
  Result<void> change(const core::FactChange& change);

  std::map<std::string, core::Limit> limits_;        // of the tokens that were learned, by key
  std::map<std::string, core::Spending> spendings_;  // the same, by key of the leaf
  std::vector<grants::KnownToken> tokens_;
  std::map<core::FactKey, std::string> stored_;
  std::set<std::string> untold_;  // digests of tokens of which a charge may lack
};

}  // namespace sallyport::app
