// Facts stand beside the entries, under no signature. One seal over all of them and over the number
// of checkpoints, under the secret of the data folder, makes a change by anybody else show (LE-46).
#pragma once

#include "base/keyed_digest.h"
#include "ledger/store.h"

namespace sallyport::ledger {

class FactSeal {
 public:
  // Of no facts and no commits.
  explicit FactSeal(const KeyedDigest& digest) : digest_(&digest) {}

  // As it was stored when the ledger had this size; `corrupt` when it is not of this secret, this
  // size, or not there.
  static Result<FactSeal> stored(ReadView& view, const KeyedDigest& digest, std::uint64_t size);
  // Made anew from what is stored: reads every fact there is.
  static Result<FactSeal> made(ReadView& view, const KeyedDigest& digest);

  // Costs what has changed, however many facts there are.
  void take(const WriteView::FactChanges& changes);
  void count_commit() { ++commits_; }

  core::Fact fact(std::uint64_t size) const;

 private:
  void toggle(std::string_view space, std::string_view key, const std::string& value);
  std::string code(std::uint64_t size) const;

  const KeyedDigest* digest_;
  std::uint64_t commits_ = 0;
  Hash sum_{};  // of the keyed digests of all facts, by exclusive or
};

// Inside a transaction that took the ledger from one size to another, or changed facts alone.
// `accepts` seals facts as they are, whoever changed them; else what was stored must be sealed.
Result<void> seal_facts(WriteView& view, const KeyedDigest& digest, std::uint64_t size_before,
                        std::uint64_t size, bool accepts);

// The stored seal is that of the stored facts. The error names no place: a seal knows none.
Result<void> check_fact_seal(ReadView& view, const KeyedDigest& digest);

}  // namespace sallyport::ledger
