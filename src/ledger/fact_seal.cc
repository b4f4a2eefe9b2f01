#include "ledger/fact_seal.h"

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/try.h"

namespace sallyport::ledger {

namespace {

// What the ledger says of itself is checked against its entries, and the seal cannot cover itself.
constexpr std::string_view kOwnSpace = "ledger";
constexpr std::string_view kSealKey = "seal";

std::unexpected<Error> broken() {
  return ledger_unavailable(
      "corrupt",
      "the facts beside the entries are not those that were written, or keys/digest.key is not "
      "theirs; find out why, then run `sallyport ledger acknowledge --reason TEXT`");
}

}  // namespace

// Lengths first: no two facts make one text.
void FactSeal::toggle(std::string_view space, std::string_view key, const std::string& value) {
  if (space == kOwnSpace) return;
  const Hash digest = digest_->bytes(
      fmt::format("sallyport/fact/v1\n{} {}\n{}{}{}", space.size(), key.size(), space, key, value));
  for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] ^= digest[i];
}

void FactSeal::take(const WriteView::ChangedFacts& changes) {
  for (const auto& [name, change] : changes) {
    if (change.before == change.after) continue;
    if (change.before) toggle(name.first, name.second, *change.before);
    if (change.after) toggle(name.first, name.second, *change.after);
  }
}

core::Fact FactSeal::fact() const {
  const std::string sum = hex(sum_);
  return {std::string(kOwnSpace), std::string(kSealKey),
          fmt::format("{} {}", sum, (*digest_)("sallyport/facts/v1\n" + sum))};
}

Result<FactSeal> FactSeal::stored(ReadView& view, const KeyedDigest& digest) {
  SALLYPORT_TRY(const std::optional<std::string> text, view.fact(kOwnSpace, kSealKey));
  FactSeal seal(digest);
  const auto sum =
      text ? from_hex(std::string_view(*text).substr(0, 2 * seal.sum_.size())) : std::nullopt;
  if (!sum || sum->size() != seal.sum_.size()) return broken();
  std::copy(sum->begin(), sum->end(), seal.sum_.begin());
  if (seal.fact().value != text) return broken();
  return seal;
}

Result<FactSeal> FactSeal::made(ReadView& view, const KeyedDigest& digest) {
  FactSeal seal(digest);
  SALLYPORT_CHECK_OK(view.scan_facts([&](const core::Fact& fact) -> Result<void> {
    seal.toggle(fact.space, fact.key, *fact.value);
    return {};
  }));
  return seal;
}

// A commit that changes no fact writes no seal: most events are alone on their page.
Result<void> seal_facts(WriteView& view, const KeyedDigest& digest, bool first, bool accepts) {
  if (accepts) {
    SALLYPORT_TRY(const FactSeal seal, FactSeal::made(view, digest));
    return view.put_fact(seal.fact());
  }
  if (view.changed_facts().empty()) return {};
  FactSeal seal(digest);
  if (!first) {
    SALLYPORT_TRY(seal, FactSeal::stored(view, digest));
  }
  seal.take(view.changed_facts());
  return view.put_fact(seal.fact());
}

Result<void> check_fact_seal(ReadView& view, const KeyedDigest& digest) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  if (size == 0) return {};
  SALLYPORT_TRY(const FactSeal stored, FactSeal::stored(view, digest));
  SALLYPORT_TRY(const FactSeal made, FactSeal::made(view, digest));
  if (stored.fact() == made.fact()) return {};
  return broken();
}

}  // namespace sallyport::ledger
