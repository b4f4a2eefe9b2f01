#include "ledger/proof/key_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <string>

#include "base/json_members.h"
#include "base/try.h"
#include "ledger/proof/tree.h"

namespace sallyport::ledger {

namespace {

// A change of keys in a control entry.
struct KeyChange {
  std::string key;
  bool rotated = false;
  bool compromised = false;
};

Result<std::optional<KeyChange>> key_change(const StoredEntry& stored) {
  // Looking before parsing: this is one entry in thousands.
  if (!stored.bytes || stored.bytes->find(R"("control":"key_)") == std::string::npos) {
    return std::nullopt;
  }
  SALLYPORT_TRY(const json::value entry, parse_own_json(*stored.bytes));
  const json::object* const body =
      entry.is_object() ? object_in(entry.get_object(), "body") : nullptr;
  if (body == nullptr || text_in(entry.get_object(), "kind") != "control") return std::nullopt;
  const auto name = text_in(*body, "control");
  const bool rotated = name == "key_rotated";
  const auto key = text_in(*body, rotated ? "new" : "key");
  if ((!rotated && name != "key_created") || !key) return std::nullopt;
  return KeyChange{std::string(*key), rotated, bool_in(*body, "compromised").value_or(true)};
}

}  // namespace

Result<std::vector<KeyPeriod>> key_history(ReadView& view) {
  std::vector<KeyPeriod> periods;
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  bool uncovered = false;  // the newest period's first checkpoint was not found yet
  const auto look = [&](const StoredEntry& stored) -> Result<bool> {
    // An unreadable entry names no key. The check of the entries reports it at its place.
    const Result<std::optional<KeyChange>> seen = key_change(stored);
    const std::optional<KeyChange> change = seen ? *seen : std::nullopt;
    Result<VerifierKey> key = VerifierKey::parse(change ? change->key : "");
    if (change && key) {
      if (change->rotated && !periods.empty()) periods.back().compromised = change->compromised;
      periods.push_back({.key = std::move(*key)});
      uncovered = true;
    }
    if (uncovered && !stored.checkpoint.empty()) {
      periods.back().first_size = stored.sequence + 1;
      if (periods.size() > 1) periods[periods.size() - 2].last_size = stored.sequence + 1;
      uncovered = false;
    }
    return true;
  };
  SALLYPORT_TRY(const std::uint64_t indexed, view.indexed_blocks());
  SALLYPORT_TRY(const std::vector<std::uint64_t> blocks,
                view.blocks_with(Facet::Kind, "control", 0));
  std::uint64_t read_to = 0;
  for (const std::uint64_t block : blocks) {
    if (block >= indexed) break;
    read_to = std::max(read_to, block * kBlock);
    // A commit has at most 2,048 entries, so the covering checkpoint is near.
    do {
      SALLYPORT_CHECK_OK(view.scan(read_to, read_to + kBlock, look));
      read_to += kBlock;
    } while (uncovered && read_to < size);
  }
  SALLYPORT_CHECK_OK(view.scan(std::max(read_to, indexed * kBlock), size, look));
  return periods;
}

Result<void> check_against(ReadView& view, std::string_view kept_note,
                           const std::vector<KeyPeriod>& keys) {
  const Result<Note> read = Note::parse(kept_note);
  if (!read) {
    return fail(ErrorCode::Corrupt, "the kept checkpoint is damaged: " + read.error().message);
  }
  const Note& note = *read;
  const bool ours = std::ranges::any_of(keys, [&](const KeyPeriod& period) {
    return verify_note(note, period.key) == NoteTrust::Signed;
  });
  if (!ours)
    return fail(ErrorCode::Corrupt, "the kept checkpoint is signed by no key of this ledger");
  SALLYPORT_TRY(const Checkpoint kept, Checkpoint::parse(note.text));
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  if (kept.size > size) {
    return fail(ErrorCode::Corrupt,
                fmt::format("the ledger has {} entries, a kept checkpoint saw {}: it was cut back",
                            size, kept.size));
  }
  SALLYPORT_TRY(const Edge edge, edge_at(view, kept.size));
  if (edge.root() == kept.root) return {};
  return fail(ErrorCode::Corrupt,
              fmt::format("the first {} entries are not those of the kept checkpoint", kept.size));
}

}  // namespace sallyport::ledger
