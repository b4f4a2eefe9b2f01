#include "ledger/proof/cosigned.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/try.h"

namespace sallyport::ledger {

namespace {

constexpr std::string_view kSpace = "cosigned";
// The two possible first lines of a fact's value.
constexpr std::string_view kQuorum = "quorum\n";
constexpr std::string_view kSome = "some\n";

// Padded to one length, so that facts come in the order of sizes.
std::string key_of(std::uint64_t size) {
  return fmt::format("{:020}", size);
}

std::optional<Cosigned> parse_fact(std::string_view key, std::string_view value) {
  Cosigned cosigned;
  const auto read = std::from_chars(key.data(), key.data() + key.size(), cosigned.size);
  if (read.ec != std::errc{} || key_of(cosigned.size) != key) return std::nullopt;
  cosigned.has_quorum = value.starts_with(kQuorum);
  if (!cosigned.has_quorum && !value.starts_with(kSome)) return std::nullopt;
  cosigned.lines = value.substr(value.find('\n') + 1);
  return cosigned;
}

// Every size with cosignatures, in order.
Result<std::vector<Cosigned>> all_cosigned(ReadView& view) {
  SALLYPORT_TRY(const std::vector<core::Fact> facts, view.facts(kSpace));
  std::vector<Cosigned> all;
  for (const core::Fact& fact : facts) {
    auto cosigned = parse_fact(fact.key, fact.value.value_or(""));
    if (cosigned) all.push_back(*std::move(cosigned));
  }
  std::ranges::sort(all, {}, &Cosigned::size);
  return all;
}

// True if one key signed both notes.
bool share_a_key(const Note& one, const Note& other) {
  return std::ranges::any_of(one.signatures, [&](const NoteSignature& line) {
    return std::ranges::any_of(other.signatures, [&](const NoteSignature& found) {
      return found.name == line.name && found.key_id == line.key_id;
    });
  });
}

Result<void> forget_older(WriteView& view) {
  SALLYPORT_TRY(const std::vector<Cosigned> all, all_cosigned(view));
  const auto newest_quorum =
      std::ranges::find(all.rbegin(), all.rend(), true, &Cosigned::has_quorum);
  for (std::size_t i = 0; i + kKeptSizes < all.size(); ++i) {
    if (newest_quorum != all.rend() && newest_quorum->size == all[i].size) continue;
    SALLYPORT_CHECK_OK(view.put_fact({std::string(kSpace), key_of(all[i].size), std::nullopt}));
  }
  return {};
}

}  // namespace

Result<std::optional<Cosigned>> cosigned_at(ReadView& view, std::uint64_t size) {
  SALLYPORT_TRY(const std::optional<std::string> value, view.fact(kSpace, key_of(size)));
  return value ? parse_fact(key_of(size), *value) : std::nullopt;
}

Result<std::optional<Cosigned>> newest_cosigned(ReadView& view, std::uint64_t sequence) {
  SALLYPORT_TRY(const std::vector<Cosigned> all, all_cosigned(view));
  if (all.empty()) return std::nullopt;
  SALLYPORT_TRY(const ReadView::Head head, view.head());
  SALLYPORT_TRY(const Note newest, Note::parse(head.checkpoint));
  std::optional<Cosigned> best;
  for (const Cosigned& cosigned : all) {
    if (cosigned.size <= sequence || cosigned.size > head.size) continue;
    if (best && best->has_quorum && !cosigned.has_quorum) continue;
    SALLYPORT_TRY(const std::optional<StoredEntry> last, view.entry(cosigned.size - 1));
    const Result<Note> note = Note::parse(last ? last->checkpoint : "");
    if (note && share_a_key(*note, newest)) best = cosigned;
  }
  return best;
}

Result<void> keep_cosignatures(WriteView& view, std::string_view checkpoint,
                               const std::vector<NoteSignature>& lines,
                               const WitnessPolicy& policy) {
  SALLYPORT_TRY(const Note stored, Note::parse(checkpoint));
  SALLYPORT_TRY(const Checkpoint state, Checkpoint::parse(stored.text));
  SALLYPORT_TRY(const std::optional<Cosigned> before, cosigned_at(view, state.size));
  Note note{.text = stored.text, .signatures = lines};
  if (before) {
    // A newer line of a witness replaces its older line.
    SALLYPORT_TRY(const Note kept, Note::parse(stored.text + "\n" + before->lines));
    for (const NoteSignature& line : kept.signatures) {
      const Note old{.text = {}, .signatures = {line}};
      if (!share_a_key(old, {.text = {}, .signatures = lines})) note.signatures.push_back(line);
    }
  }
  SALLYPORT_TRY(const std::set<std::string> cosigners, cosigners_of(note, policy));
  std::string value(policy.is_met_by(cosigners) ? kQuorum : kSome);
  for (const NoteSignature& line : note.signatures) value += signature_line(line);
  SALLYPORT_CHECK_OK(view.put_fact({std::string(kSpace), key_of(state.size), std::move(value)}));
  return forget_older(view);
}

Result<void> note_offered(Ledger& ledger, std::uint64_t size) {
  // A commit without entries waits for the disk and syncs everything written before it.
  SALLYPORT_CHECK_OK(ledger.transact([size](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_CHECK_OK(view.put_fact({"ledger", "offered", std::to_string(size)}));
    return std::vector<core::Draft>{};
  }));
  return {};
}

Result<std::string> with_cosignatures(ReadView& view, std::uint64_t size, std::string checkpoint) {
  SALLYPORT_TRY(const std::optional<Cosigned> cosigned, cosigned_at(view, size));
  return cosigned ? checkpoint + cosigned->lines : std::move(checkpoint);
}

}  // namespace sallyport::ledger
