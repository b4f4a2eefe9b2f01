#include "ledger/write/opening_check.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "ledger/entry/entry.h"
#include "ledger/entry/entry_reader.h"
#include "ledger/proof/merkle.h"
#include "ledger/proof/tree.h"
#include "ledger/write/seals.h"

namespace sallyport::ledger {

namespace {

std::unexpected<Error> damaged(std::string detail) {
  return ledger_unavailable("corrupt", detail + "; run `sallyport ledger verify`");
}

Result<Checkpoint> verified(std::string_view bytes, const VerifierKey& key) {
  SALLYPORT_TRY(const Note note, Note::parse(bytes));
  if (verify_note(note, key) != NoteTrust::Signed) {
    return fail(ErrorCode::Corrupt, "it is not signed by the ledger's key");
  }
  return Checkpoint::parse(note.text);
}

Result<void> check_tail(ReadView& view, std::uint64_t size, std::uint64_t looks_back) {
  std::uint64_t next = size > looks_back ? size - looks_back : 0;
  SALLYPORT_CHECK_OK(view.scan(next, size, [&](const StoredEntry& entry) -> Result<bool> {
    if (entry.sequence != next) return damaged(fmt::format("entry {} is missing", next));
    SALLYPORT_CHECK_OK(check_leaf(entry));
    ++next;
    return true;
  }));
  if (next != size) return damaged(fmt::format("entry {} is missing", next));
  return {};
}

Result<void> check_commitments(const std::vector<Opening>& openings, const EntryReader& reader) {
  for (const Opening& opening : openings) {
    const auto commitment = reader.commitment(opening.path);
    if (!commitment) {
      return fail(ErrorCode::Corrupt, "an opening points at no sealed field at " + opening.path);
    }
    if (opening.state == OpeningState::Open &&
        seal_digest(opening.form, opening.salt, opening.value) != *commitment) {
      return fail(ErrorCode::Corrupt,
                  "an opening does not match its commitment at " + opening.path);
    }
  }
  if (openings.size() == reader.sealed_fields()) return {};
  return fail(ErrorCode::Corrupt, fmt::format("{} openings are kept of {} sealed fields",
                                              openings.size(), reader.sealed_fields()));
}

}  // namespace

Result<void> check_leaf(const StoredEntry& stored) {
  if (!stored.bytes || leaf_hash(*stored.bytes) == stored.leaf) return {};
  return damaged(fmt::format("entry {} does not have its hash", stored.sequence));
}

Result<std::vector<Opening>> openings_of(const StoredEntry& stored) {
  thread_local EntryReader reader;
  Result<std::vector<Opening>> openings = unpack_openings(stored.openings);
  Result<void> good = openings ? Result<void>{} : std::unexpected(openings.error());
  if (good && stored.bytes) good = reader.read(*stored.bytes);
  if (good && stored.bytes) good = check_commitments(*openings, reader);
  if (good && stored.secret != nullptr && !Seals(*stored.secret).holds(stored)) {
    good = fail(ErrorCode::Corrupt, "what stands beside it is not as it was sealed");
  }
  if (good) return openings;
  return damaged(fmt::format("entry {}: {}", stored.sequence, good.error().message));
}

Result<json::object> opened_entry(const StoredEntry& stored) {
  SALLYPORT_TRY(const std::vector<Opening> openings, openings_of(stored));
  SALLYPORT_TRY(json::value entry, parse_own_json(*stored.bytes));
  json::value body = opened_body(entry, openings);
  entry.get_object()["body"] = std::move(body);
  return std::move(entry.get_object());
}

Result<void> check_seals_of(LedgerStore& store, std::shared_ptr<const KeyedDigest> secret) {
  return store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const ReadView::Head head, view.head());
    if (head.size == 0 || !head.seal.empty()) store.check_seals_with(std::move(secret));
    return {};
  });
}

Result<void> check_before_writing(ReadView& view, const VerifierKey& key,
                                  std::uint64_t looks_back) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  if (size == 0) return {};
  SALLYPORT_TRY(const std::optional<StoredEntry> last, view.entry(size - 1));
  const Result<Checkpoint> newest = verified(last->checkpoint, key);
  if (!newest) {
    return damaged(fmt::format("the checkpoint of entry {} does not hold: {}", size - 1,
                               newest.error().message));
  }
  SALLYPORT_TRY(const Edge edge, edge_at(view, size));
  if (newest->size != size || newest->root != edge.root()) {
    return damaged(fmt::format("the newest checkpoint does not fit the tree of {} entries", size));
  }
  return check_tail(view, size, looks_back);
}

namespace {

// What a control entry says about keys; nothing for every other entry.
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
  const auto what = text_in(*body, "control");
  const bool rotated = what == "key_rotated";
  const auto key = text_in(*body, rotated ? "new" : "key");
  if ((!rotated && what != "key_created") || !key) return std::nullopt;
  return KeyChange{std::string(*key), rotated, bool_in(*body, "compromised").value_or(true)};
}

}  // namespace

Result<std::vector<KeyPeriod>> key_history(ReadView& view) {
  std::vector<KeyPeriod> periods;
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  bool uncovered = false;  // the newest period's first checkpoint is still to be seen
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
    return fail(ErrorCode::Corrupt, "the kept checkpoint is none: " + read.error().message);
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
