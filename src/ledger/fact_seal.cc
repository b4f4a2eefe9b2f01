#include "ledger/fact_seal.h"

#include <fmt/format.h>

#include <charconv>

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

void FactSeal::take(const WriteView::FactChanges& changes) {
  for (const auto& [name, change] : changes) {
    if (change.before == change.after) continue;
    if (change.before) toggle(name.first, name.second, *change.before);
    if (change.after) toggle(name.first, name.second, *change.after);
  }
}

// With the size, so that the facts of an earlier state are no good later.
std::string FactSeal::code(std::uint64_t size) const {
  return (*digest_)(fmt::format("sallyport/facts/v1\n{}\n{}\n{}", size, commits_, hex(sum_)));
}

core::Fact FactSeal::fact(std::uint64_t size) const {
  return {std::string(kOwnSpace), std::string(kSealKey),
          fmt::format("{} {} {}", commits_, hex(sum_), code(size))};
}

Result<FactSeal> FactSeal::stored(ReadView& view, const KeyedDigest& digest, std::uint64_t size) {
  SALLYPORT_TRY(const std::optional<std::string> text, view.fact(kOwnSpace, kSealKey));
  if (!text) return broken();
  FactSeal seal(digest);
  const char* const end = text->data() + text->size();
  const auto [rest, code] = std::from_chars(text->data(), end, seal.commits_);
  const std::size_t digits = 2 * seal.sum_.size();
  if (code != std::errc{} || static_cast<std::size_t>(end - rest) < digits + 1) return broken();
  const auto sum = from_hex(std::string_view(rest + 1, digits));
  if (!sum) return broken();
  std::copy(sum->begin(), sum->end(), seal.sum_.begin());
  if (seal.fact(size).value != text) return broken();
  return seal;
}

Result<FactSeal> FactSeal::made(ReadView& view, const KeyedDigest& digest) {
  FactSeal seal(digest);
  SALLYPORT_CHECK_OK(view.scan_facts([&](const core::Fact& fact) -> Result<void> {
    seal.toggle(fact.space, fact.key, *fact.value);
    return {};
  }));
  SALLYPORT_TRY(const ReadView::Rows rows, view.rows());
  seal.commits_ = rows.checkpoints;
  return seal;
}

Result<void> seal_facts(WriteView& view, const KeyedDigest& digest, std::uint64_t size_before,
                        std::uint64_t size, bool accepts) {
  if (size == size_before && view.fact_changes().empty()) return {};
  if (accepts) {
    SALLYPORT_TRY(const FactSeal seal, FactSeal::made(view, digest));
    return view.put_fact(seal.fact(size));
  }
  FactSeal seal(digest);
  if (size_before > 0) {
    SALLYPORT_TRY(seal, FactSeal::stored(view, digest, size_before));
  }
  seal.take(view.fact_changes());
  if (size > size_before) seal.count_commit();
  return view.put_fact(seal.fact(size));
}

Result<void> check_fact_seal(ReadView& view, const KeyedDigest& digest) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  if (size == 0) return {};
  SALLYPORT_TRY(const FactSeal stored, FactSeal::stored(view, digest, size));
  SALLYPORT_TRY(const FactSeal made, FactSeal::made(view, digest));
  if (stored.fact(size) == made.fact(size)) return {};
  return broken();
}

}  // namespace sallyport::ledger
