#include "ledger/proof/verify_entries.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstring>

#include "base/json_members.h"
#include "base/try.h"
#include "ledger/entry/entry_reader.h"
#include "ledger/entry/trust_link.h"
#include "ledger/proof/merkle.h"
#include "ledger/write/block_index.h"

namespace sallyport::ledger {

namespace {

using Found = std::optional<Fault>;

std::uint64_t fold(const Uuid& id) {
  std::uint64_t parts[2];
  std::memcpy(parts, id.data(), sizeof parts);
  return parts[0] ^ (parts[1] * 0x9e3779b97f4a7c15u);
}

class Examiner {
 public:
  Examiner(Examined& out, const LogHistory& history) : out_(out), history_(history) {}

  Found look(const StoredEntry& stored) {
    out_.leaves.push_back(stored.leaf);
    if (!stored.bytes) {
      out_.last_pruned = stored.sequence;
      block_is_whole_ = false;
    } else if (Found fault = look_at_bytes(stored)) {
      return fault;
    }
    if ((stored.sequence + 1) % kBlock == 0) {
      BlockIndex index = indexer_.finish(stored.sequence / kBlock);
      if (block_is_whole_) out_.blocks.push_back(std::move(index));
      block_is_whole_ = true;
    }
    if (!stored.checkpoint.empty()) {
      if (Found fault = look_at_checkpoint(stored)) return fault;
    }
    return history_.secret == nullptr ? std::nullopt : look_at_seal(stored);
  }

 private:
  static Fault fault(const StoredEntry& stored, std::string_view check, std::string detail) {
    return {stored.sequence, std::string(check), std::move(detail)};
  }

  Found look_at_bytes(const StoredEntry& stored) {
    if (const Result<void> ok = reader_.read(*stored.bytes); !ok) {
      return fault(stored, "entry_bytes", ok.error().message);
    }
    const EntryView& entry = reader_.view();
    if (entry.sequence != stored.sequence) {
      return fault(stored, "entry_bytes", "the entry says another sequence");
    }
    if (leaf_hash(*stored.bytes) != stored.leaf) {
      return fault(stored, "leaf_hash", "the bytes do not have the stored leaf hash");
    }
    if (Found found = look_at_openings(stored)) return found;
    indexer_.add(facets_of(entry), reader_.recorded_at(), reader_.id());
    out_.ids.emplace_back(fold(reader_.id()), stored.sequence);
    if (!entry.topic.empty()) {
      out_.topics.push_back({stored.sequence, entry.topic, entry.topic_id});
    }
    const bool has_checks = entry.kind == "trust" || entry.kind == "control" ||
                            (entry.kind == "approval" && stored.bytes->contains(R"(:"webauthn:)"));
    return has_checks ? look_at_body(stored) : std::nullopt;
  }

  // Checks the few kinds of entries whose bodies are about the log itself.
  Found look_at_body(const StoredEntry& stored) {
    const Result<json::value> entry = parse_own_json(*stored.bytes);
    if (!entry) return fault(stored, "entry_bytes", entry.error().message);
    note_control(*entry);
    const json::object& body = entry->at("body").get_object();
    if (is_of_passkey(entry->at("kind").get_string(), body)) {
      out_.passkeys.push_back({stored.sequence, body});
    }
    return look_at_trust(stored, *entry);
  }

  Found look_at_openings(const StoredEntry& stored) {
    const std::size_t fields = reader_.sealed_fields();
    if (stored.openings.empty() && fields == 0) return std::nullopt;
    const Result<std::vector<Opening>> openings = unpack_openings(stored.openings);
    if (!openings) return fault(stored, "opening", openings.error().message);
    std::vector<std::string_view> paths;
    for (const Opening& opening : *openings) {
      if (std::ranges::find(paths, opening.path) == paths.end()) paths.push_back(opening.path);
      const auto commitment = reader_.commitment(opening.path);
      if (!commitment) {
        return fault(stored, "opening",
                     fmt::format("an opening points at no sealed field at `{}`", opening.path));
      }
      if (opening.state == OpeningState::Open &&
          seal_digest(opening.form, opening.salt, opening.value) != *commitment) {
        return fault(stored, "opening",
                     "an opening does not match its commitment at " + opening.path);
      }
      if (opening.state == OpeningState::Erased && !was_erased(stored, opening.path)) {
        return fault(stored, "opening", "gone, and no `erased` entry covers " + opening.path);
      }
    }
    if (paths.size() != fields || openings->size() != fields) {
      return fault(stored, "opening",
                   fmt::format("{} openings are kept of {} sealed fields", paths.size(), fields));
    }
    return std::nullopt;
  }

  Found look_at_seal(const StoredEntry& stored) {
    const Seals seals(*history_.secret);
    if (!seals.holds(stored)) {
      return fault(stored, "opening",
                   "states of openings, or where commits end, are not as they were sealed");
    }
    if (!stored.checkpoint.empty() && !seals.state(stored.checkpoint, stored.seal)) {
      return fault(stored, "checkpoint_consistency",
                   "the state of this commit is not sealed for this checkpoint");
    }
    if (const std::optional<Tag> part = seals.row_part(stored)) toggle(out_.altered, *part);
    return std::nullopt;
  }

  bool was_erased(const StoredEntry& stored, std::string_view path) const {
    return std::ranges::any_of(history_.erasures, [&](const LogHistory::Erasure& erasure) {
      return erasure.sequence > stored.sequence && selects(erasure.selection, reader_.view(), path);
    });
  }

  Found look_at_trust(const StoredEntry& stored, const json::value& entry) {
    if (entry.at("kind") != json::value("trust")) return std::nullopt;
    const json::object& body = entry.at("body").get_object();
    const auto index = number_in(body, "chain_index");
    const auto hash = text_in(body, "entry_hash");
    if (!index || !hash || !body.contains("previous_hash")) {
      return fault(stored, "trust_chain", "a trust record lacks its links");
    }
    if (trust_entry_hash(body) != *hash) return fault(stored, "trust_chain", "entry_hash mismatch");
    out_.trust.push_back({stored.sequence,
                          *index,
                          std::string(text_in(body, "previous_hash").value_or("")),
                          std::string(*hash),
                          {}});
    if (is_trust_control(body)) {
      const json::object* const metadata = object_in(body, "metadata");
      if (metadata) out_.trust.back().control_id = text_or_empty(*metadata, "control_id");
      return look_at_authority(stored, body);
    }
    return std::nullopt;
  }

  Found look_at_authority(const StoredEntry& stored, const json::object& record) const {
    if (!history_.control) return std::nullopt;
    const std::string origin =
        history_.keys.empty() ? std::string() : history_.keys.front().key.name;
    const Result<void> good = history_.control(record, origin);
    if (good) return std::nullopt;
    return fault(stored, "trust_chain", "unauthorized control: " + good.error().message);
  }

  void note_control(const json::value& entry) {
    if (entry.at("kind") != json::value("control")) return;
    const json::object& body = entry.at("body").get_object();
    const std::string_view name = text_in(body, "control").value_or("");
    if (name == "pruned") {
      out_.pruned_below = std::max(out_.pruned_below, number_in(body, "minimum_index").value_or(0));
    } else if (name == "hold_set" && body.contains("selection") && body.contains("who")) {
      out_.holds.push_back({std::string(text_in(body, "hold").value_or("")),
                            canonical_json(json::object{{"selection", body.at("selection")},
                                                        {"who", body.at("who")}})});
    } else if (name == "hold_lifted") {
      out_.holds.push_back({std::string(text_in(body, "hold").value_or("")), std::nullopt});
    }
  }

  Found look_at_checkpoint(const StoredEntry& stored) {
    const std::uint64_t size = stored.sequence + 1;
    const Result<Note> note = Note::parse(stored.checkpoint);
    if (!note) return fault(stored, "checkpoint_signature", note.error().message);
    const Result<Checkpoint> state = Checkpoint::parse(note->text);
    if (!state) return fault(stored, "checkpoint_signature", state.error().message);
    bool found = false;
    std::size_t signers = 0;
    for (const KeyPeriod& period : history_.keys) {
      if (size < period.first_size || (period.last_size && size > *period.last_size)) continue;
      if (verify_note(*note, period.key) != NoteTrust::Signed) {
        return fault(stored, "checkpoint_signature",
                     fmt::format("not signed by `{}`", period.key.text()));
      }
      found = state->origin == period.key.name;
      ++signers;
    }
    if (!found)
      return fault(stored, "checkpoint_signature", "no key of this ledger was valid then");
    if (note->signatures.size() != signers) {
      return fault(stored, "checkpoint_signature", "it carries signatures that are not ours");
    }
    if (state->size != size) {
      return fault(stored, "checkpoint_consistency",
                   fmt::format("the checkpoint behind entry {} is of {} entries", stored.sequence,
                               state->size));
    }
    out_.checkpoints.push_back({stored.sequence, size, state->root});
    return std::nullopt;
  }

  Examined& out_;
  const LogHistory& history_;
  EntryReader reader_;
  BlockIndexer indexer_;
  bool block_is_whole_ = true;
};

}  // namespace

bool is_trust_control(const json::object& record) {
  const std::string_view action = text_in(record, "action").value_or("");
  if (action == "trust.promote" || action == "trust.demote") return true;
  const json::object* const metadata = object_in(record, "metadata");
  return metadata != nullptr && metadata->contains("control");
}

bool is_of_passkey(std::string_view kind, const json::object& body) {
  if (kind == "control") {
    const std::string_view name = text_in(body, "control").value_or("");
    return name == "passkey_added" || name == "passkey_removed";
  }
  return kind == "approval" && text_in(body, "record") == "approval_response" &&
         text_in(body, "signature").value_or("").starts_with("webauthn:");
}

std::optional<Fault> passkey_fault(std::uint64_t sequence, const Error& error, bool pruned) {
  if (pruned && error.cause == "passkey_unknown") return std::nullopt;
  return Fault{sequence, "trust_chain", "unauthorized passkey: " + error.message};
}

Result<LogHistory> log_history(ReadView& view) {
  LogHistory history;
  SALLYPORT_TRY(history.keys, key_history(view));
  // Skips unreadable entries. `examine` reports them.
  const auto look = [&](const StoredEntry& stored) -> Result<bool> {
    if (!stored.bytes || stored.bytes->find(R"("control":"erased")") == std::string::npos)
      return true;
    const Result<json::value> entry = parse_own_json(*stored.bytes);
    const json::object* const object = entry ? entry->if_object() : nullptr;
    const json::object* const body = object ? object_in(*object, "body") : nullptr;
    const json::value* const selected = body ? body->if_contains("selection") : nullptr;
    if (selected == nullptr || text_in(*object, "kind") != "control") return true;
    if (Result<Selection> selection = Selection::from_json(*selected)) {
      history.erasures.push_back({stored.sequence, std::move(*selection)});
    }
    return true;
  };
  SALLYPORT_TRY(const std::uint64_t indexed, view.indexed_blocks());
  SALLYPORT_TRY(const std::vector<std::uint64_t> blocks,
                view.blocks_with(Facet::Kind, "control", 0));
  for (const std::uint64_t block : blocks) {
    if (block >= indexed) break;
    SALLYPORT_CHECK_OK(view.scan(block * kBlock, (block + 1) * kBlock, look));
  }
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  SALLYPORT_CHECK_OK(view.scan(indexed * kBlock, size, look));
  return history;
}

Examined examine(const std::vector<StoredEntry>& entries, const LogHistory& history) {
  Examined out{.begin = entries.front().sequence};
  Examiner examiner(out, history);
  for (const StoredEntry& entry : entries) {
    out.fault = examiner.look(entry);
    if (out.fault) break;
  }
  return out;
}

}  // namespace sallyport::ledger
