// Facts stand beside the entries, under no signature. One seal over all of them, under the secret
// of the data folder, makes a change by anybody else show (LE-46).
#pragma once

#include "base/keyed_digest.h"
#include "ledger/store.h"

namespace sallyport::ledger {

class FactSeal {
 public:
  // Of no facts.
  explicit FactSeal(const KeyedDigest& digest) : digest_(&digest) {}

  // As it is stored; `corrupt` when it is not of this secret, or not there.
  static Result<FactSeal> stored(ReadView& view, const KeyedDigest& digest);
  // Made anew from what is stored: reads every fact there is.
  static Result<FactSeal> made(ReadView& view, const KeyedDigest& digest);

  // Costs what has changed, however many facts there are.
  void take(const WriteView::ChangedFacts& changes);

  core::Fact fact() const;

 private:
  void toggle(std::string_view space, std::string_view key, const std::string& value);

  const KeyedDigest* digest_;
  Hash sum_{};  // of the keyed digests of all facts, by exclusive or
};

// Inside a transaction, once it has changed what it changes. `first`: the ledger was empty before.
// `accepts` seals facts as they are, whoever changed them; else what was stored must be sealed.
Result<void> seal_facts(WriteView& view, const KeyedDigest& digest, bool first, bool accepts);

// The stored seal is that of the stored facts. The error names no place: a seal knows none.
Result<void> check_fact_seal(ReadView& view, const KeyedDigest& digest);

}  // namespace sallyport::ledger
