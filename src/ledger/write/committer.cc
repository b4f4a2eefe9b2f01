#include "ledger/write/committer.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "base/try.h"
#include "core/handoff/waiting_facts.h"
#include "ledger/entry/trust_link.h"
#include "ledger/proof/tree.h"
#include "ledger/write/block_index.h"
#include "ledger/write/block_writer.h"
#include "ledger/write/late_outcome.h"
#include "ledger/write/written_ids.h"

namespace sallyport::ledger {

using std::chrono::seconds;

core::Draft control(std::string_view name, json::object details) {
  core::Draft draft{.kind = core::Kind::Control, .body = std::move(details)};
  draft.body["control"] = name;
  return draft;
}

// The contents of one transaction so far.
struct Committer::Batch {
  explicit Batch(WriteView& to, Stored before)
      : view(to), next(std::move(before)), written_ids(to) {}

  WriteView& view;
  Stored next;
  WrittenIds written_ids;
  std::vector<StoredEntry> entries{};
  std::vector<Edge::Subtree> completed{};  // by these entries
  std::map<std::string, std::uint64_t> topic_ids{};
  std::vector<BlockIndex> indexes{};  // of blocks that this process filled from their first entry
};

namespace {

// Reads a number from a fact. Another program may have written anything there.
Result<std::uint64_t> number_in_fact(const std::optional<std::string>& stored,
                                     std::string_view space) {
  std::uint64_t number = 0;
  if (!stored) return number;
  const char* const end = stored->data() + stored->size();
  const auto [last, code] = std::from_chars(stored->data(), end, number);
  if (code == std::errc() && last == end) return number;
  return ledger_damaged(fmt::format("a fact `{}` is not a number", space));
}

core::FactChange::Stored facts_of(WriteView& view) {
  return [&view](std::string_view space, std::string_view key) { return view.fact(space, key); };
}

Result<bool> as_expected(WriteView& view, const Group& group) {
  for (const core::Fact& fact : group.expected) {
    SALLYPORT_TRY(const std::optional<std::string> stored, view.fact(fact.space, fact.key));
    if (stored != fact.value) return false;
  }
  return true;
}

// Called before anything of the group is written, so that a refusal leaves nothing behind.
Result<void> ask_changes(WriteView& view, const Group& group) {
  for (const SealedDraft& draft : group.drafts) {
    for (const std::shared_ptr<const core::FactChange>& change : draft.changes()) {
      SALLYPORT_CHECK_OK(change->facts(facts_of(view)));
    }
  }
  return {};
}

Result<void> put_facts(WriteView& view, const SealedDraft& draft, std::uint64_t sequence) {
  for (core::Fact fact : draft.facts()) {
    if (fact.with_place) *fact.value += fmt::format("@{}", sequence);
    if (fact.counts) {
      SALLYPORT_TRY(const std::optional<std::string> stored, view.fact(fact.space, fact.key));
      SALLYPORT_TRY(const std::uint64_t count, number_in_fact(stored, fact.space));
      fact.value = std::to_string(count + 1);
    }
    SALLYPORT_CHECK_OK(view.put_fact(fact));
  }
  for (const std::shared_ptr<const core::FactChange>& change : draft.changes()) {
    SALLYPORT_TRY(const std::vector<core::Fact> facts, change->facts(facts_of(view)));
    for (const core::Fact& fact : facts) SALLYPORT_CHECK_OK(view.put_fact(fact));
  }
  return {};
}

// Topics number their entries from 1. An entry without a topic has the number 0.
Result<std::uint64_t> next_topic_id(WriteView& view, std::map<std::string, std::uint64_t>& known,
                                    const std::string& topic) {
  if (topic.empty()) return 0;
  auto [last, unknown] = known.try_emplace(topic, 0);
  if (unknown) {
    SALLYPORT_TRY(const std::optional<std::string> stored, view.fact("topic", topic));
    SALLYPORT_TRY(last->second, number_in_fact(stored, "topic"));
  }
  const std::uint64_t id = ++last->second;
  SALLYPORT_CHECK_OK(view.put_fact({"topic", topic, std::to_string(id)}));
  return id;
}

// Gives a trust record its place in the chain.
Result<SealedDraft> linked(WriteView& view, SealedDraft draft) {
  SALLYPORT_TRY(TrustHead head, trust_head(view));
  head.hash = draft.link(++head.index, head.hash);
  SALLYPORT_CHECK_OK(view.put_fact(head.fact()));
  return draft;
}

// True if the key signed a checkpoint of exactly this tree.
bool vouches(const std::string& checkpoint, const Edge& edge, const VerifierKey& key) {
  const Result<Note> note = Note::parse(checkpoint);
  if (!note) return false;
  const Result<Checkpoint> stated = Checkpoint::parse(note->text);
  return stated && stated->size == edge.size() && stated->root == edge.root() &&
         verify_note(*note, key) == NoteTrust::Signed;
}

}  // namespace

Committer::Committer(Parts parts, std::shared_ptr<const Signer> signer)
    : parts_(std::move(parts)),
      signer_(std::move(signer)),
      stored_{.wall = parts_.clock.wall(), .steady = parts_.clock.steady()} {}

Result<SealedDraft> Committer::seal(core::Draft draft) {
  SealedDraft::LastSubject none;
  return seal(std::move(draft), none);
}

Result<SealedDraft> Committer::seal(core::Draft draft, SealedDraft::LastSubject& last) {
  std::optional<Uuid> id = draft.id ? parse_uuid(*draft.id) : uuid7(parts_.clock, parts_.entropy);
  if (!id || !is_version7(*id)) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{:.40}` is not a UUIDv7", *draft.id));
  }
  return SealedDraft::seal(std::move(draft), *id,
                           {parts_.redactor, parts_.digest, parts_.entropy, parts_.instance.get()},
                           last);
}

Result<void> Committer::seal(Group& group) {
  group.drafts.reserve(group.drafts.size() + group.unsealed.size());
  SealedDraft::LastSubject last;
  for (core::Draft& draft : std::exchange(group.unsealed, {})) {
    SALLYPORT_TRY(SealedDraft sealed, seal(std::move(draft), last));
    group.drafts.push_back(std::move(sealed));
  }
  return {};
}

Result<void> Committer::commit(const std::vector<Group*>& groups) {
  return commit(groups, {});
}

Result<void> Committer::commit_at_once(Group& group) {
  return commit({&group}, {.waits_for_writers = false});
}

Result<void> Committer::commit(const std::vector<Group*>& groups, LedgerStore::Manner manner) {
  manner.waits_for_disk = std::ranges::any_of(groups, &Group::waits_for_disk);
  manner.wants = [&] { return wants(groups); };
  Stored next;
  std::shared_ptr<const Signer> rotate_to;
  const auto work = [&](WriteView& view) -> Result<void> {
    const bool accepts = std::ranges::any_of(groups, &Group::accepts_unsealed);
    SALLYPORT_CHECK_OK(follow_others(view, accepts));
    SALLYPORT_CHECK_OK(check_not_lost(view));
    Batch batch(view, stored_);
    batch.next.wall = parts_.clock.wall();
    batch.next.steady = parts_.clock.steady();
    SALLYPORT_CHECK_OK(note_clock_step(batch));
    for (Group* const group : groups) {
      SALLYPORT_CHECK_OK(write_group(batch, *group));
      if (group->rotate_to && group->result) rotate_to = group->rotate_to;
    }
    SALLYPORT_CHECK_OK(sign_checkpoint(batch, rotate_to));
    SALLYPORT_CHECK_OK(seal_state(batch, accepts));
    SALLYPORT_CHECK_OK(write_rows(batch));
    next = std::move(batch.next);
    return {};
  };
  Result<void> done = parts_.store.write(work, manner);
  if (!done) {
    indexer_ = {};
    return done;
  }
  stored_ = std::move(next);
  size_seen_.store(size(), std::memory_order_relaxed);
  forget_doubts(groups);
  is_on_disk_ = manner.waits_for_disk;
  if (rotate_to) signer_ = rotate_to;
  return {};
}

void Committer::forget_doubts(const std::vector<Group*>& groups) {
  for (const Group* const group : doubtful_.empty() ? std::vector<Group*>{} : groups) {
    for (const SealedDraft& draft : group->drafts) doubtful_.erase(ended_call(draft, doubtful_));
  }
}

// The data that the groups will read, as far as it is known before.
LedgerStore::Wants Committer::wants(const std::vector<Group*>& groups) const {
  LedgerStore::Wants wants{.known = stored_.edge.size()};
  std::set<core::FactKey> facts{{"ledger", "key"}, {"instance", parts_.instance.get()}};
  for (const Group* const group : groups) {
    for (const core::Fact& fact : group->expected) facts.insert({fact.space, fact.key});
    for (const SealedDraft& draft : group->drafts) {
      for (const core::Fact& fact : draft.facts()) facts.insert({fact.space, fact.key});
      if (!draft.topic().empty()) facts.insert({"topic", draft.topic()});
      if (draft.is_link()) facts.insert({"trust", "head"});
    }
  }
  wants.facts.assign(facts.begin(), facts.end());
  return wants;
}

// After the commit that declares this instance lost, others close its calls (SC-29).
Result<void> Committer::check_not_lost(WriteView& view) const {
  if (!parts_.by_lease || !joined_) return {};
  SALLYPORT_TRY(const std::optional<std::string> named,
                view.fact("instance", parts_.instance.get()));
  if (named) return {};
  return ledger_unavailable("fenced",
                            "other gateways have declared this one lost and closed its calls; it "
                            "joins again under a new name");
}

// INVARIANT: inside a transaction `stored_` is what is stored, whichever process wrote it.
Result<void> Committer::follow_others(WriteView& view, bool accepts) {
  SALLYPORT_TRY(const ReadView::Head head, view.head());
  const bool changed = view.changed_elsewhere();
  const std::uint64_t size = head.size;
  const std::uint64_t known = stored_.edge.size();
  if (size == 0 && known == 0) return follow_key(view);
  if (size < known) {
    return ledger_unavailable("corrupt",
                              fmt::format("the ledger shrank from {} to {} entries", known, size));
  }
  if (size == known && head.checkpoint != stored_.checkpoint) {
    return ledger_unavailable("corrupt",
                              fmt::format("entry {} was exchanged behind the ledger", size - 1));
  }
  if (size > known) SALLYPORT_CHECK_OK(follow_tree(view, head));
  if (accepts) return {};
  if (size > known || head.seal != stored_.seal) SALLYPORT_CHECK_OK(follow_state(view, head));
  followed_ = followed_ || (size > known && known > 0);
  // If no process appended but the file changed, another program wrote: check all facts. Check them
  // also on the first commit of this process.
  if (known > 0 && (size > known || !changed)) return {};
  if (known == 0 && parts_.most_facts != UINT64_MAX) {
    SALLYPORT_TRY(const bool too_many, view.has_more_facts_than(parts_.most_facts));
    if (too_many) return {};
  }
  return ledger::check_facts(view, parts_.digest, stored_.state.sums);
}

Result<void> Committer::check_facts() {
  return parts_.store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const std::optional<SealedState> state, newest_state(view, parts_.digest));
    if (!state) return {};
    return ledger::check_facts(view, parts_.digest, state->sums);
  });
}

// The state beside the newest checkpoint. At the same size only facts without an entry may have
// changed, and those count up.
Result<void> Committer::follow_state(WriteView& view, const ReadView::Head& head) {
  SALLYPORT_TRY(const std::optional<SealedState> state, newest_state(view, parts_.digest));
  const bool same_size = !stored_.seal.empty() && head.checkpoint == stored_.checkpoint;
  if (same_size && state->revision <= stored_.state.revision) {
    return ledger_unavailable(
        "corrupt", fmt::format("an earlier seal of entry {} was put back", head.size - 1));
  }
  stored_.state = *state;
  stored_.seal = head.seal;
  stored_.checkpoint = head.checkpoint;
  return {};
}

// Entries of others count only under their signature, because building on them would sign them.
Result<void> Committer::follow_tree(WriteView& view, const ReadView::Head& head) {
  constexpr std::uint64_t kFewLeaves = 4096;
  const std::uint64_t size = head.size;
  const std::uint64_t known = stored_.edge.size();
  // A rotation is an entry. Without new entries the key is the same.
  SALLYPORT_CHECK_OK(follow_key(view));
  SALLYPORT_TRY(const std::optional<StoredEntry> last, view.entry(size - 1));
  Edge edge = stored_.edge;
  if (size - known <= kFewLeaves) {
    SALLYPORT_TRY(const std::vector<Hash> leaves, view.leaves(known, size));
    for (const Hash& leaf : leaves) edge.append(leaf);
  } else {
    SALLYPORT_TRY(edge, edge_at(view, size));
  }
  if (!vouches(last->checkpoint, edge, verifier())) {
    return ledger_unavailable(
        "corrupt", fmt::format("entry {} does not carry the checkpoint of its tree", size - 1));
  }
  stored_.edge = std::move(edge);
  stored_.checkpoint = last->checkpoint;
  stored_.seal.clear();
  indexer_ = {};
  if (!last->bytes || parts_.by_lease) return {};
  const Result<EntryView> seen = view_entry(*last->bytes);
  if (!seen) {
    return ledger_unavailable("corrupt", fmt::format("entry {} cannot be read", size - 1));
  }
  stored_.last_recorded = from_rfc3339(seen->recorded_at).value_or(stored_.last_recorded);
  return {};
}

// Another process may have rotated the key since this one last wrote.
Result<void> Committer::follow_key(WriteView& view) {
  SALLYPORT_TRY(const std::optional<std::string> current, view.fact("ledger", "key"));
  if (!current || *current == verifier().text()) return {};
  // The staged key first: if it is missing, it has already become the signing key.
  for (const auto& find : {&KeyFolder::staged, &KeyFolder::signing_key}) {
    SALLYPORT_TRY(std::shared_ptr<const Signer> found, (parts_.keys.*find)());
    if (found && found->verifier().text() == *current) {
      signer_ = std::move(found);
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
  if (batch.next.edge.size() == 0) return {};
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::microseconds>(batch.next.steady - stored_.steady);
  const auto drift = (batch.next.wall - stored_.wall) - elapsed;
  const bool stepped = drift > seconds(2) || drift < -seconds(2);
  const bool before_last = batch.next.wall + seconds(1) < stored_.last_recorded;
  if (!stepped && !before_last) return {};
  SALLYPORT_TRY(
      const SealedDraft sealed,
      seal(control("clock_step",
                   {{"wall_before", rfc3339(stepped ? stored_.wall : stored_.last_recorded)},
                    {"wall_now", rfc3339(batch.next.wall)},
                    {"steady_elapsed_us", elapsed.count()},
                    {"against", stepped ? "monotonic_clock" : "entry_before"}})));
  Positions ignored;
  return place(batch, sealed, ignored);
}

// Another gateway has closed the call. Its record stays the only one, and the outcome that this
// gateway knows is recorded beside it (SC-33). True: the group has its result.
Result<bool> Committer::write_late_outcomes(Batch& batch, Group& group) {
  if (!parts_.by_lease) return false;
  SALLYPORT_TRY(
      const std::vector<std::string> closed,
      calls_closed_elsewhere(batch.view, group, doubtful_, [&](const Uuid& id) -> Result<bool> {
        if (!group.known_ids) return false;
        SALLYPORT_TRY(const auto before, batch.written_ids.find(id));
        return before.has_value();
      }));
  if (closed.empty()) return false;
  for (core::Draft& draft : late_outcomes(group, doubtful_, closed)) {
    SALLYPORT_TRY(const SealedDraft sealed, seal(std::move(draft)));
    Positions ignored;
    SALLYPORT_CHECK_OK(place(batch, sealed, ignored));
  }
  group.result = fail(ErrorCode::Conflict,
                      "another gateway has closed this call; its outcome is recorded as "
                      "late_outcome");
  return true;
}

// True: the group is refused and has its result. A late group counts as refused.
Result<bool> Committer::refuse_group(Batch& batch, Group& group) {
  // No gateway would close a call that is announced under a lost name.
  const auto is_of_before = [&](const SealedDraft& draft) {
    return draft.instance_id() != parts_.instance.get();
  };
  if (group.urgency == core::Urgency::Announces && !group.owed &&
      std::ranges::any_of(group.drafts, is_of_before)) {
    group.result = ledger_unavailable("fenced", "this gateway was declared lost meanwhile");
    return true;
  }
  SALLYPORT_TRY(const bool unchanged, as_expected(batch.view, group));
  if (unchanged) return write_late_outcomes(batch, group);
  group.result = fail(ErrorCode::Conflict, "a fact that this write expects has changed meanwhile");
  return true;
}

// The doubtful intent is in the log after all, and the draft ends its call.
Result<void> Committer::close_doubtful(Batch& batch, const SealedDraft& draft) {
  const std::string call = doubtful_.empty() ? std::string() : ended_call(draft, doubtful_);
  if (call.empty()) return {};
  SALLYPORT_TRY(const std::optional<std::string> open, batch.view.fact(core::kOpenCall, call));
  if (!open) return {};
  return batch.view.put_fact({std::string(core::kOpenCall), call, std::nullopt});
}

Result<void> Committer::write_group(Batch& batch, Group& group) {
  group.result = Positions{};
  SALLYPORT_TRY(const bool refused, refuse_group(batch, group));
  if (refused) return {};
  if (Result<void> asked = ask_changes(batch.view, group); !asked) {
    if (asked.error().code != ErrorCode::Exhausted) return asked;
    group.result = std::unexpected(std::move(asked).error());
    return {};
  }
  std::vector<SealedDraft> composed;
  if (group.compose) {
    Result<std::vector<core::Draft>> drafts = group.compose(batch.view);
    if (!drafts) {
      // A refusal concerns only the group. A failure of the store fails the whole transaction.
      const Error& error = drafts.error();
      if (!error.cause.empty() && error.code != ErrorCode::NotFound) return std::unexpected(error);
      group.result = std::unexpected(drafts.error());
      return {};
    }
    for (core::Draft& draft : *drafts) {
      SALLYPORT_TRY(SealedDraft sealed, seal(std::move(draft)));
      composed.push_back(std::move(sealed));
    }
  }
  for (const SealedDraft& draft : group.compose ? composed : group.drafts) {
    std::optional<std::uint64_t> before;
    if (group.known_ids) {
      SALLYPORT_TRY(before, batch.written_ids.find(draft.id()));
    }
    if (before) {
      group.result->push_back({*before, to_string(draft.id())});
    } else {
      SALLYPORT_CHECK_OK(close_doubtful(batch, draft));
      SALLYPORT_CHECK_OK(place(batch, draft, *group.result));
    }
  }
  return {};
}

Result<void> Committer::place(Batch& batch, const SealedDraft& draft, Positions& positions) {
  const std::uint64_t sequence = batch.next.edge.size();
  const WallTime now = parts_.clock.wall();
  SALLYPORT_TRY(const std::uint64_t topic_id,
                next_topic_id(batch.view, batch.topic_ids, draft.topic()));
  SALLYPORT_CHECK_OK(put_facts(batch.view, draft, sequence));
  StoredEntry entry{.sequence = sequence, .openings = draft.packed_openings()};
  if (draft.is_link()) {
    SALLYPORT_TRY(const SealedDraft link, linked(batch.view, draft));
    entry.bytes = link.bytes(sequence, now, topic_id);
  } else {
    entry.bytes = draft.bytes(sequence, now, topic_id);
  }
  entry.leaf = leaf_hash(*entry.bytes);
  batch.next.edge.append(entry.leaf, &batch.completed);
  batch.next.last_recorded = now;
  batch.entries.push_back(std::move(entry));
  batch.written_ids.add(draft.id(), sequence);
  index(batch, draft, now);
  positions.push_back({sequence, to_string(draft.id())});
  return {};
}

void Committer::index(Batch& batch, const SealedDraft& draft, WallTime recorded) {
  if (parts_.by_lease) return;
  indexer_.add(facets_of(draft), recorded, draft.id());
  const std::uint64_t size = batch.next.edge.size();
  if (size % kBlock != 0) return;
  const bool whole = indexer_.size() == kBlock;
  BlockIndex full = indexer_.finish(size / kBlock - 1);
  if (whole) batch.indexes.push_back(std::move(full));
}

Result<void> Committer::sign_checkpoint(Batch& batch,
                                        const std::shared_ptr<const Signer>& rotate_to) {
  if (batch.entries.empty()) return {};
  std::vector<const Signer*> signers = {signer_.get()};
  if (rotate_to) signers.push_back(rotate_to.get());
  const Edge& edge = batch.next.edge;
  batch.next.checkpoint = Checkpoint{verifier().name, edge.size(), edge.root()}.sign(signers);
  batch.entries.back().checkpoint = batch.next.checkpoint;
  return {};
}

// Seals the state after the commit under its checkpoint. If facts changed without an entry, the
// newest entry gets a new seal.
Result<void> Committer::seal_state(Batch& batch, bool accepts) {
  const Seals seals(parts_.digest);
  SealedState& state = batch.next.state;
  const bool lone = batch.entries.empty();
  if (lone && batch.view.changed_facts().empty() && batch.view.altered().empty()) return {};
  if (!lone) {
    state.marks.clear();
    state.revision = 0;
    state.anew = false;
  } else if (batch.next.edge.size() == 0) {
    return fail(ErrorCode::Internal, "a fact has no entry before it that could seal it");
  } else {
    ++state.revision;
  }
  if (accepts) {
    SALLYPORT_TRY(state, reseal_all(batch.view, parts_.digest));
  } else {
    SALLYPORT_CHECK_OK(reseal_altered(batch.view, parts_.digest, state));
    seals.take(batch.view.changed_facts(), state);
  }
  const std::string sealed = seals.state_seal(batch.next.checkpoint, state);
  for (StoredEntry& entry : batch.entries) {
    entry.seal = seals.row_seal(entry, entry.checkpoint.empty() ? std::string_view{} : sealed);
  }
  if (!lone) {
    batch.next.seal = batch.entries.back().seal;
    return {};
  }
  SALLYPORT_TRY(const std::optional<StoredEntry> last,
                batch.view.entry(batch.next.edge.size() - 1));
  batch.next.seal = seals.row_seal(*last, sealed);
  return batch.view.replace_seal(last->sequence, batch.next.seal);
}

Result<void> Committer::write_rows(Batch& batch) {
  const Seals seals(parts_.digest);
  auto index = batch.indexes.begin();
  for (const StoredEntry& entry : batch.entries) {
    SALLYPORT_CHECK_OK(batch.view.insert(entry));
    const std::uint64_t size = entry.sequence + 1;
    if (size % kBlock != 0 || parts_.by_lease) continue;
    const std::uint64_t block = entry.sequence / kBlock;
    if (index != batch.indexes.end() && index->block == block) {
      SALLYPORT_CHECK_OK(batch.view.put_block_index(*index, seals.block_seal(*index)));
      ++index;
    } else {
      SALLYPORT_TRY(const BlockIndex read, index_block(batch.view, block));
      SALLYPORT_CHECK_OK(batch.view.put_block_index(read, seals.block_seal(read)));
    }
  }
  return put_nodes(batch.view, batch.completed);
}

}  // namespace sallyport::ledger
