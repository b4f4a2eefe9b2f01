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

  // Adds a token, which has what entries do not: rates, and the parent of each grant. True: it is
  // new, so entries must be taken again from the start.
  bool add_token(const grants::TokenChain& chain);
  // Sets the tokens that the ledger has seen. They link narrower tokens to their parents.
  void set_known_tokens(std::vector<grants::KnownToken> tokens) { tokens_ = std::move(tokens); }

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

  std::map<std::string, core::Limit> limits_;        // of the added tokens, by key
  std::map<std::string, core::Spending> spendings_;  // the same, by key of the leaf
  std::vector<grants::KnownToken> tokens_;
  std::map<core::FactKey, std::string> stored_;
  std::set<std::string> incomplete_;  // digests of tokens that may lack a charge
};

}  // namespace sallyport::app
