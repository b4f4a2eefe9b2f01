#include "ledger/committer.h"

#include <fmt/format.h>

#include <charconv>

#include "base/try.h"
#include "ledger/block_index.h"
#include "ledger/tree.h"
#include "ledger/trust_link.h"

namespace sallyport::ledger {

using std::chrono::seconds;

core::Draft control(std::string_view name, json::object details) {
  core::Draft draft{.kind = core::Kind::Control, .body = std::move(details)};
  draft.body["control"] = name;
  return draft;
}

// What one transaction has put together so far.
struct Committer::Batch {
  WriteView& view;
  Edge edge;
  WallTime last_recorded;
  WallTime wall;  // both clocks as the transaction began
  SteadyTime steady;
  std::vector<StoredEntry> entries{};
  std::vector<Uuid> ids{};  // of `entries`
  // Where each id of the block that is not full yet stands, `entries` included. Read when somebody
  // first asks: what was owed through a long fault asks for thousands.
  std::optional<std::map<Uuid, std::uint64_t>> recent{};
  std::map<std::string, std::uint64_t> topic_ids{};
  std::vector<BlockIndex> indexes{};  // of blocks that this process filled from their first entry
};

namespace {

// A number that stands in a fact. What somebody else wrote there may be anything.
Result<std::uint64_t> number_in_fact(const std::optional<std::string>& stored,
                                     std::string_view space) {
  std::uint64_t number = 0;
  if (!stored) return number;
  const char* const end = stored->data() + stored->size();
  const auto [last, code] = std::from_chars(stored->data(), end, number);
  if (code == std::errc() && last == end) return number;
  return ledger_unavailable(
      "corrupt", fmt::format("a fact `{}` is no number; run `sallyport ledger verify`", space));
}

}  // namespace

Committer::Committer(Means means, SigningKey key)
    : means_(std::move(means)),
      key_(key),
      wall_(means_.clock.wall()),
      steady_(means_.clock.steady()) {}

Result<SealedDraft> Committer::seal(core::Draft draft) {
  std::optional<Uuid> id = draft.id ? parse_uuid(*draft.id) : uuid7(means_.clock, means_.entropy);
  if (!id || !is_version7(*id)) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{:.40}` is not a UUIDv7", *draft.id));
  }
  return SealedDraft::seal(std::move(draft), *id,
                           {means_.redactor, means_.digest, means_.entropy, means_.instance_id});
}

Result<void> Committer::commit(const std::vector<Group*>& groups) {
  return commit(groups, {});
}

Result<void> Committer::commit_at_once(Group& group) {
  return commit({&group}, {.waits_for_writers = false});
}

Result<void> Committer::commit(const std::vector<Group*>& groups, LedgerStore::Manner manner) {
  manner.waits_for_disk = std::ranges::any_of(groups, &Group::waits_for_disk);
  Edge edge;
  std::string checkpoint;
  WallTime last_recorded;
  std::shared_ptr<const SigningKey> rotate_to;
  WallTime wall;
  SteadyTime steady;
  const auto work = [&](WriteView& view) -> Result<void> {
    SALLYPORT_CHECK_OK(follow_others(view));
    wall = means_.clock.wall();
    steady = means_.clock.steady();
    Batch batch{view, edge_, last_recorded_, wall, steady};
    SALLYPORT_CHECK_OK(note_clock_step(batch));
    for (Group* const group : groups) {
      SALLYPORT_CHECK_OK(write_group(batch, *group));
      if (group->rotate_to && group->result) rotate_to = group->rotate_to;
    }
    SALLYPORT_CHECK_OK(finish(batch, rotate_to));
    edge = batch.edge;
    last_recorded = batch.last_recorded;
    checkpoint = batch.entries.empty() ? checkpoint_ : batch.entries.back().checkpoint;
    return {};
  };
  Result<void> done = means_.store.write(work, manner);
  if (!done) {
    indexer_ = {};
    return done;
  }
  edge_ = std::move(edge);
  last_recorded_ = last_recorded;
  checkpoint_ = std::move(checkpoint);
  is_on_disk_ = manner.waits_for_disk;
  if (rotate_to) key_ = *rotate_to;
  // The readings that were compared: a step during the commit is noticed by the next one.
  wall_ = wall;
  steady_ = steady;
  return {};
}

// INVARIANT: inside a transaction `edge_` is the edge of what is stored, whoever wrote it. What
// others wrote counts only under their signature: building on it would sign it for them.
Result<void> Committer::follow_others(WriteView& view) {
  constexpr std::uint64_t kFewLeaves = 4096;
  SALLYPORT_TRY(const ReadView::Head head, view.head());
  const std::uint64_t size = head.size;
  if (size == 0 && edge_.size() == 0) return follow_key(view);
  if (size < edge_.size()) {
    return ledger_unavailable(
        "corrupt", fmt::format("the ledger shrank from {} to {} entries", edge_.size(), size));
  }
  if (size == edge_.size()) {
    if (head.checkpoint == checkpoint_) return {};
    return ledger_unavailable("corrupt",
                              fmt::format("entry {} was exchanged behind the ledger", size - 1));
  }
  // A rotation is an entry like any other: where there is no new one, the key is the same.
  SALLYPORT_CHECK_OK(follow_key(view));
  SALLYPORT_TRY(const std::optional<StoredEntry> last, view.entry(size - 1));
  Edge edge = edge_;
  if (size - edge.size() <= kFewLeaves) {
    SALLYPORT_TRY(const std::vector<Hash> leaves, view.leaves(edge.size(), size));
    for (const Hash& leaf : leaves) edge.append(leaf);
  } else {
    SALLYPORT_TRY(edge, edge_at(view, size));
  }
  const Result<Note> note = Note::parse(last->checkpoint);
  const Result<Checkpoint> signed_state =
      note ? Checkpoint::parse(note->text) : Result<Checkpoint>(std::unexpected(note.error()));
  if (!signed_state || signed_state->size != size || signed_state->root != edge.root() ||
      verify_note(*note, key_.verifier()) != NoteTrust::Signed) {
    return ledger_unavailable(
        "corrupt", fmt::format("entry {} does not carry the checkpoint of its tree", size - 1));
  }
  edge_ = std::move(edge);
  indexer_ = {};
  checkpoint_ = last->checkpoint;
  if (last->bytes) {
    const Result<EntryView> seen = view_entry(*last->bytes);
    if (!seen)
      return ledger_unavailable("corrupt", fmt::format("entry {} cannot be read", size - 1));
    last_recorded_ = from_rfc3339(seen->recorded_at).value_or(last_recorded_);
  }
  return {};
}

// Another process may have rotated the key since this one last wrote.
Result<void> Committer::follow_key(WriteView& view) {
  SALLYPORT_TRY(const std::optional<std::string> current, view.fact("ledger", "key"));
  if (!current || *current == key_.verifier().text()) return {};
  // Staged first: when it is no longer there, it has already become the signing key.
  for (const auto& find : {&KeyFolder::staged, &KeyFolder::signing_key}) {
    SALLYPORT_TRY(std::optional<SigningKey> found, (means_.keys.*find)());
    if (found && found->verifier().text() == *current) {
      key_ = *found;
      return {};
    }
  }
  return fail(ErrorCode::Unavailable,
              fmt::format("the ledger is signed with `{}`, whose private key is not in the keys "
                          "folder; restore it",
                          *current),
              {}, "io");
}

Result<void> Committer::note_clock_step(Batch& batch) {
  if (batch.edge.size() == 0) return {};
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::microseconds>(batch.steady - steady_);
  const auto drift = (batch.wall - wall_) - elapsed;
  const bool stepped = drift > seconds(2) || drift < -seconds(2);
  const bool before_last = batch.wall + seconds(1) < batch.last_recorded;
  if (!stepped && !before_last) return {};
  SALLYPORT_TRY(
      const SealedDraft sealed,
      seal(control("clock_step", {{"wall_before", rfc3339(stepped ? wall_ : batch.last_recorded)},
                                  {"wall_now", rfc3339(batch.wall)},
                                  {"steady_elapsed_us", elapsed.count()},
                                  {"against", stepped ? "monotonic_clock" : "entry_before"}})));
  Positions ignored;
  return place(batch, sealed, ignored);
}

Result<void> Committer::write_group(Batch& batch, Group& group) {
  group.result = Positions{};
  SALLYPORT_TRY(const bool unchanged, as_expected(batch, group));
  if (!unchanged) {
    group.result = fail(ErrorCode::Conflict, "what this depends on has changed meanwhile");
    return {};
  }
  if (Result<void> asked = ask_changes(batch, group); !asked) {
    if (asked.error().code != ErrorCode::Exhausted) return asked;
    group.result = std::unexpected(std::move(asked).error());
    return {};
  }
  std::vector<SealedDraft> composed;
  if (group.compose) {
    Result<std::vector<core::Draft>> drafts = group.compose(batch.view);
    if (!drafts) {
      // A refusal is the group's own; a store that fails takes the whole transaction with it.
      if (!drafts.error().cause.empty()) return std::unexpected(drafts.error());
      group.result = std::unexpected(drafts.error());
      return {};
    }
    for (core::Draft& draft : *drafts) {
      SALLYPORT_TRY(SealedDraft sealed, seal(std::move(draft)));
      composed.push_back(std::move(sealed));
    }
  }
  for (const SealedDraft& draft : group.compose ? composed : group.drafts) {
    if (group.known_ids) {
      SALLYPORT_TRY(const std::optional<core::Position> before, written_before(batch, draft.id()));
      if (before) {
        group.result->push_back(*before);
        continue;
      }
    }
    SALLYPORT_CHECK_OK(place(batch, draft, *group.result));
  }
  return {};
}

Result<bool> Committer::as_expected(Batch& batch, const Group& group) {
  for (const core::Fact& fact : group.expected) {
    SALLYPORT_TRY(const std::optional<std::string> stored, batch.view.fact(fact.space, fact.key));
    if (stored != fact.value) return false;
  }
  return true;
}

namespace {

core::FactChange::Stored facts_of(WriteView& view) {
  return [&view](std::string_view space, std::string_view key) { return view.fact(space, key); };
}

}  // namespace

// Before anything of the group is written, so that a refusal leaves nothing behind.
Result<void> Committer::ask_changes(Batch& batch, const Group& group) {
  for (const SealedDraft& draft : group.drafts) {
    for (const std::shared_ptr<const core::FactChange>& change : draft.changes()) {
      SALLYPORT_TRY(const std::vector<core::Fact> facts, change->facts(facts_of(batch.view)));
      (void)facts;
    }
  }
  return {};
}

Result<void> Committer::place(Batch& batch, const SealedDraft& draft, Positions& positions) {
  const std::uint64_t sequence = batch.edge.size();
  const WallTime now = means_.clock.wall();
  std::uint64_t topic_id = 0;
  if (!draft.topic().empty()) {
    auto [last, unknown] = batch.topic_ids.try_emplace(draft.topic(), 0);
    if (unknown) {
      SALLYPORT_TRY(const std::optional<std::string> stored,
                    batch.view.fact("topic", draft.topic()));
      SALLYPORT_TRY(last->second, number_in_fact(stored, "topic"));
    }
    topic_id = ++last->second;
    SALLYPORT_CHECK_OK(batch.view.put_fact({"topic", draft.topic(), std::to_string(topic_id)}));
  }
  for (core::Fact fact : draft.facts()) {
    if (fact.with_place) *fact.value += fmt::format("@{}", sequence);
    if (fact.counts) {
      SALLYPORT_TRY(const std::optional<std::string> stored, batch.view.fact(fact.space, fact.key));
      SALLYPORT_TRY(const std::uint64_t count, number_in_fact(stored, fact.space));
      fact.value = std::to_string(count + 1);
    }
    SALLYPORT_CHECK_OK(batch.view.put_fact(fact));
  }
  for (const std::shared_ptr<const core::FactChange>& change : draft.changes()) {
    SALLYPORT_TRY(const std::vector<core::Fact> facts, change->facts(facts_of(batch.view)));
    for (const core::Fact& fact : facts) SALLYPORT_CHECK_OK(batch.view.put_fact(fact));
  }
  std::optional<SealedDraft> linked;
  if (draft.is_link()) {
    SALLYPORT_TRY(TrustHead head, trust_head(batch.view));
    linked = draft;
    head.hash = linked->link(++head.index, head.hash);
    SALLYPORT_CHECK_OK(batch.view.put_fact(head.fact()));
  }
  StoredEntry entry{.sequence = sequence,
                    .bytes = (linked ? *linked : draft).bytes(sequence, now, topic_id),
                    .openings = draft.packed_openings()};
  entry.leaf = leaf_hash(*entry.bytes);
  batch.edge.append(entry.leaf);
  batch.last_recorded = now;
  indexer_.add(draft.view(), now, draft.id());
  if (batch.edge.size() % kBlock == 0) {
    const bool whole = indexer_.size() == kBlock;
    BlockIndex index = indexer_.finish(sequence / kBlock);
    if (whole) batch.indexes.push_back(std::move(index));
  }
  batch.entries.push_back(std::move(entry));
  batch.ids.push_back(draft.id());
  if (batch.recent) batch.recent->emplace(draft.id(), sequence);
  positions.push_back({sequence, to_string(draft.id())});
  return {};
}

Result<void> Committer::read_recent(Batch& batch) {
  batch.recent.emplace();
  const auto note = [&](const StoredEntry& entry) -> Result<bool> {
    if (!entry.bytes) return true;
    SALLYPORT_TRY(const EntryView seen, view_entry(*entry.bytes));
    if (const std::optional<Uuid> id = parse_uuid(seen.id)) {
      batch.recent->emplace(*id, entry.sequence);
    }
    return true;
  };
  SALLYPORT_TRY(const std::uint64_t size, batch.view.size());
  SALLYPORT_CHECK_OK(batch.view.scan(size / kBlock * kBlock, size, note));
  for (std::size_t i = 0; i < batch.ids.size(); ++i) {
    batch.recent->emplace(batch.ids[i], batch.entries[i].sequence);
  }
  return {};
}

Result<std::optional<core::Position>> Committer::written_before(Batch& batch, const Uuid& id) {
  const std::string text = to_string(id);
  if (!batch.recent) SALLYPORT_CHECK_OK(read_recent(batch));
  if (const auto same = batch.recent->find(id); same != batch.recent->end()) {
    return core::Position{same->second, text};
  }
  std::optional<core::Position> found;
  const auto look = [&](const StoredEntry& entry) -> Result<bool> {
    if (!entry.bytes) return true;
    SALLYPORT_TRY(const EntryView seen, view_entry(*entry.bytes));
    if (seen.id == text) found = core::Position{entry.sequence, text};
    return !found.has_value();
  };
  SALLYPORT_TRY(const std::vector<std::uint64_t> blocks, batch.view.blocks_with_id(id));
  for (const std::uint64_t block : blocks) {
    SALLYPORT_CHECK_OK(batch.view.scan(block * kBlock, (block + 1) * kBlock, look));
    if (found) return found;
  }
  return std::nullopt;
}

Result<void> Committer::finish(Batch& batch, const std::shared_ptr<const SigningKey>& rotate_to) {
  if (batch.entries.empty()) return {};
  std::vector<const SigningKey*> keys = {&key_};
  if (rotate_to) keys.push_back(rotate_to.get());
  const Checkpoint state{key_.verifier().name, batch.edge.size(), batch.edge.root()};
  batch.entries.back().checkpoint = state.sign(keys);
  auto index = batch.indexes.begin();
  for (const StoredEntry& entry : batch.entries) {
    SALLYPORT_CHECK_OK(batch.view.insert(entry));
    const std::uint64_t size = entry.sequence + 1;
    if (size % kTile == 0) SALLYPORT_CHECK_OK(complete_nodes(batch.view, size));
    if (size % kBlock != 0) continue;
    const std::uint64_t block = entry.sequence / kBlock;
    if (index != batch.indexes.end() && index->block == block) {
      SALLYPORT_CHECK_OK(batch.view.put_block_index(*index++));
    } else {
      SALLYPORT_TRY(const BlockIndex read, index_block(batch.view, block));
      SALLYPORT_CHECK_OK(batch.view.put_block_index(read));
    }
  }
  return {};
}

Result<void> Committer::complete_nodes(WriteView& view, std::uint64_t size) {
  SALLYPORT_TRY(const std::vector<CompletedNode> nodes, completed_nodes(view, size));
  for (const CompletedNode& node : nodes) {
    SALLYPORT_CHECK_OK(view.put_node(node.level, node.position, node.hash));
  }
  return {};
}

Result<BlockIndex> Committer::index_block(WriteView& view, std::uint64_t block) {
  BlockIndexer indexer;
  SALLYPORT_CHECK_OK(view.scan(block * kBlock, (block + 1) * kBlock,
                               [&](const StoredEntry& entry) -> Result<bool> {
                                 if (!entry.bytes) return true;  // pruned before its block was full
                                 SALLYPORT_TRY(const EntryView seen, view_entry(*entry.bytes));
                                 SALLYPORT_CHECK_OK(add_entry(indexer, seen));
                                 return true;
                               }));
  return indexer.finish(block);
}

}  // namespace sallyport::ledger
