#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <istream>
#include <map>
#include <set>
#include <utility>

#include "base/encoding.h"
#include "base/try.h"
#include "ledger/entry/absent_openings.h"
#include "ledger/entry/entry.h"
#include "ledger/maintenance.h"
#include "ledger/proof/merkle.h"
#include "ledger/proof/verify.h"
#include "ledger/read/export.h"

namespace sallyport::ledger {

namespace {

using Found = std::optional<Fault>;

// Reads the lines of a file that may be larger than memory, or one endless line.
class Lines {
 public:
  explicit Lines(std::istream& in) : in_(in) {}

  // False: the end, or `fault` says why there is no further line.
  bool next(std::string& line) {
    line.clear();
    while (true) {
      const std::size_t end = buffer_.find('\n', at_);
      line.append(buffer_, at_, end == std::string::npos ? end : end - at_);
      if (line.size() > kMaxExportLine) {
        fault = "it is longer than 16 MiB";
        return false;
      }
      if (end != std::string::npos) {
        at_ = end + 1;
        return true;
      }
      if (!refill()) return !line.empty();
    }
  }

  std::string fault;

 private:
  bool refill() {
    constexpr std::size_t kChunk = 64 * 1024;
    buffer_.resize(kChunk);
    in_.read(buffer_.data(), static_cast<std::streamsize>(kChunk));
    buffer_.resize(static_cast<std::size_t>(in_.gcount()));
    at_ = 0;
    return !buffer_.empty();
  }

  std::istream& in_;
  std::string buffer_;
  std::size_t at_ = 0;
};

struct Rotation {
  std::uint64_t sequence = 0;
  VerifierKey before;
  VerifierKey after;
  bool compromised = false;
};

// The trusted keys: the pinned key and the keys that it leads to.
class Signers {
 public:
  explicit Signers(VerifierKey pinned) : trusted_(std::move(pinned)) {}

  void add(Rotation rotation) { rotations_.push_back(std::move(rotation)); }

  NoteTrust judge(const Note& note, std::uint64_t size) {
    const NoteTrust trust = verify_note(note, trusted_);
    if (trust != NoteTrust::Signed) return trust;
    // A rotation counts once the old key has signed a tree with it. A rotation of a compromised key
    // does not count (LE-27).
    for (const Rotation& rotation : rotations_) {
      if (rotation.sequence < size && rotation.before == trusted_ && !rotation.compromised) {
        trusted_ = rotation.after;
      }
    }
    return trust;
  }

  // For a log that is trusted as a whole: an earlier key of it, as its entries name them, signed.
  bool signed_by_former(const Note& note) const {
    std::vector<VerifierKey> keys = {trusted_};
    for (auto rotation = rotations_.rbegin(); rotation != rotations_.rend(); ++rotation) {
      if (rotation->after == keys.back()) keys.push_back(rotation->before);
    }
    return std::ranges::any_of(
        keys, [&](const VerifierKey& key) { return verify_note(note, key) == NoteTrust::Signed; });
  }

 private:
  VerifierKey trusted_;
  std::vector<Rotation> rotations_;
};

const json::value* member(const json::object& object, std::string_view name, json::kind kind) {
  const json::value* const value = object.if_contains(name);
  return value != nullptr && value->kind() == kind ? value : nullptr;
}

class ExportCheck {
 public:
  ExportCheck(const VerifierKey& pinned, const CheckControl& control, const CheckPasskeys& passkeys)
      : origin_(pinned.name), control_(control), passkeys_(passkeys), signers_(pinned) {}

  Found take(std::string_view line) {
    ++line_;
    last_is_checkpoint_ = false;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      return malformed("the line is empty");
    }
    // Openings lie a few levels deeper in a line than in the call they come from.
    const Result<json::value> value = parse_own_json(line, {.bytes = kMaxExportLine, .depth = 132});
    if (!value) return malformed(value.error().message);
    const json::object* const object = value->if_object();
    if (object == nullptr) return malformed("it is not an object");
    if (object->contains("checkpoint")) return take_checkpoint(*object, line);
    if (object->contains("leaf")) return take_leaf(*object, line);
    return take_entry(*object, line);
  }

  // A line that cannot be read.
  Found refuse(std::string_view detail) {
    ++line_;
    return malformed(detail);
  }

  Found finish() {
    for (const Unknown& unknown : unknown_) {
      if (signers_.signed_by_former(unknown.note)) continue;
      return Fault{
          unknown.sequence, "checkpoint_signature",
          fmt::format("line {}: the checkpoint is not signed by the pinned key, nor by one "
                      "that it leads to",
                      unknown.line)};
    }
    if (!last_is_checkpoint_ || covered_ != edge_.size()) {
      return Fault{covered_, "checkpoint_signature",
                   fmt::format("no checkpoint covers entry {} and what follows: the end is missing",
                               covered_)};
    }
    if (pruned_end_ > pruned_below_) {
      return Fault{pruned_end_ - 1, "entry_bytes",
                   "the entry is left out, and no `pruned` entry speaks of that"};
    }
    return std::nullopt;
  }

  // What is first at fault. `found` is a fault of the bytes. The checkpoint over an entry decides
  // before the signature of a person in it.
  Found first_fault(Found found) const {
    const bool before = unauthorized_ && (!found || unauthorized_->sequence < found->sequence);
    return before ? unauthorized_ : found;
  }

  std::uint64_t size() const { return edge_.size(); }
  std::uint64_t unjudged() const { return unjudged_; }
  bool lacks_openings() const { return lacks_openings_; }

  // Counts the missing openings in the line of an entry, once all erasures are known.
  std::uint64_t missing_openings(std::string_view line) const {
    const Result<json::value> value = parse_own_json(line, {.bytes = kMaxExportLine, .depth = 132});
    const json::object* const object = value ? value->if_object() : nullptr;
    if (object == nullptr || !object->contains("entry")) return 0;
    const json::object& entry = object->at("entry").get_object();
    const std::vector<std::string> absent =
        absent_openings(entry, object->at("openings").get_array());
    if (absent.empty()) return 0;
    const Result<EntryView> view = view_entry(canonical_json(entry));
    if (!view) return absent.size();
    return static_cast<std::uint64_t>(std::ranges::count_if(absent, [&](const std::string& path) {
      return std::ranges::none_of(erasures_, [&](const Erasure& erasure) {
        return erasure.sequence > view->sequence && selects(erasure.selection, *view, path);
      });
    }));
  }

 private:
  struct Erasure {
    std::uint64_t sequence = 0;
    Selection selection;
  };
  struct Unknown {
    Note note;
    std::uint64_t line = 0;
    std::uint64_t sequence = 0;
  };
  struct TopicState {
    std::uint64_t last = 0;
    std::uint64_t pruned_before = 0;
  };

  Found malformed(std::string_view detail) const { return fault("entry_bytes", detail); }

  Found fault(std::string_view check, std::string_view detail) const {
    return Fault{edge_.size(), std::string(check), fmt::format("line {}: {}", line_, detail)};
  }

  Found check_sequence(std::uint64_t sequence) const {
    if (sequence == edge_.size()) return std::nullopt;
    if (edge_.size() == 0) {
      return fault("missing_sequence",
                   fmt::format("begins with entry {}; put the export of entries 0 to {} before it",
                               sequence, sequence - 1));
    }
    return fault("missing_sequence",
                 fmt::format("entry {} stands where {} comes next", sequence, edge_.size()));
  }

  Found take_leaf(const json::object& object, std::string_view line) {
    const json::value* const leaf = member(object, "leaf", json::kind::string);
    const json::value* const sequence = member(object, "sequence", json::kind::int64);
    const auto bytes = leaf == nullptr ? std::nullopt : from_base64(leaf->get_string());
    Hash hash{};
    if (!bytes || bytes->size() != hash.size() || sequence == nullptr || object.size() != 2 ||
        canonical_json(object) != line) {
      return malformed("not the line of a pruned entry");
    }
    if (Found found = check_sequence(static_cast<std::uint64_t>(sequence->get_int64()))) {
      return found;
    }
    std::copy(bytes->begin(), bytes->end(), hash.begin());
    edge_.append(hash);
    ++pruned_;
    pruned_end_ = edge_.size();
    return std::nullopt;
  }

  Found take_entry(const json::object& object, std::string_view line) {
    const json::value* const entry = member(object, "entry", json::kind::object);
    const json::value* const openings = member(object, "openings", json::kind::array);
    if (entry == nullptr || openings == nullptr || object.size() != 2) {
      return malformed("it has other members than `entry` and `openings`, or `checkpoint`");
    }
    if (const Result<void> good = check_entry(*entry); !good) {
      return malformed(good.error().message);
    }
    const std::string bytes = canonical_json(*entry);
    if (bytes.size() > kMaxEntryBytes) return malformed("the entry is over 65,535 bytes");
    const json::object& members = entry->get_object();
    if (Found found =
            check_sequence(static_cast<std::uint64_t>(members.at("sequence").get_int64()))) {
      return found;
    }
    if (Found found = check_openings(*entry, openings->get_array(), bytes, line)) return found;
    if (!ids_.insert(*parse_uuid(members.at("id").get_string())).second) {
      return fault("duplicate_id", "an earlier entry has the same id");
    }
    lacks_openings_ = lacks_openings_ || !absent_openings(members, openings->get_array()).empty();
    if (Found found = check_topic(members)) return found;
    if (Found found = note_control(members)) return found;
    if (!unauthorized_) unauthorized_ = check_authority(members);
    if (!unauthorized_) unauthorized_ = check_passkeys(members);
    edge_.append(leaf_hash(bytes));
    return std::nullopt;
  }

  // Also checks that the line is byte for byte what an export writes.
  Found check_openings(const json::value& entry, const json::array& openings,
                       std::string_view bytes, std::string_view line) const {
    std::string written = fmt::format(R"({{"entry":{},"openings":[)", bytes);
    for (const json::value& item : openings) {
      const Result<Opening> opening = opening_from_json(item);
      const Result<void> good =
          opening ? check_opening(entry, *opening) : std::unexpected(opening.error());
      if (!good) {
        return fault("opening",
                     fmt::format("{} at `{}`", good.error().message, good.error().where));
      }
      if (written.back() != '[') written += ',';
      append_opening_json(written, *opening);
    }
    written += "]}";
    if (written != line) return malformed("it is not written in canonical form");
    return std::nullopt;
  }

  Found check_topic(const json::object& members) {
    const json::value* const topic = members.if_contains("topic");
    const json::value* const id = members.if_contains("topic_id");
    if (topic == nullptr && id == nullptr) return std::nullopt;
    if (topic == nullptr || id == nullptr) {
      return fault("topic_order", "`topic` and `topic_id` stand together or not at all");
    }
    TopicState& state = topics_[std::string(topic->get_string())];
    const auto number = static_cast<std::uint64_t>(id->get_int64());
    // Pruned entries may have been of this topic, so that many numbers may be skipped.
    const std::uint64_t skippable = pruned_ - std::exchange(state.pruned_before, pruned_);
    if (number <= state.last || number - state.last - 1 > skippable) {
      return fault("topic_order",
                   fmt::format("`topic_id` is {}, the one before was {}", number, state.last));
    }
    state.last = number;
    return std::nullopt;
  }

  // Checks who may change tiers, if the caller can judge that.
  Found check_authority(const json::object& members) {
    if (members.at("kind").get_string() != "trust") return std::nullopt;
    const json::object& body = members.at("body").get_object();
    if (!is_trust_control(body)) return std::nullopt;
    const json::value* const metadata = member(body, "metadata", json::kind::object);
    const json::value* const id =
        metadata ? member(metadata->get_object(), "control_id", json::kind::string) : nullptr;
    if (id != nullptr && !control_ids_.emplace(id->get_string()).second) {
      return fault("trust_chain", "unauthorized control: its control_id was used before");
    }
    if (!control_) ++unjudged_;
    const Result<void> good = control_ ? control_(body, origin_) : Result<void>{};
    if (good) return std::nullopt;
    return fault("trust_chain", "unauthorized control: " + good.error().message);
  }

  // Checks passkeys and their signatures, if the caller knows the people.
  Found check_passkeys(const json::object& members) {
    const json::object& body = members.at("body").get_object();
    if (!is_of_passkey(members.at("kind").get_string(), body)) return std::nullopt;
    if (!passkeys_) ++unjudged_;
    if (!passkeys_) return std::nullopt;
    const Result<void> good = passkeys_(body, origin_);
    return good ? std::nullopt : passkey_fault(edge_.size(), good.error(), pruned_ > 0);
  }

  Found note_control(const json::object& members) {
    if (members.at("kind").get_string() != "control") return std::nullopt;
    const json::object& body = members.at("body").get_object();
    const json::value* const name = member(body, "control", json::kind::string);
    if (name == nullptr) return std::nullopt;
    if (name->get_string() == "pruned") {
      const json::value* const minimum = member(body, "minimum_index", json::kind::int64);
      if (minimum == nullptr || minimum->get_int64() < 0) {
        return malformed("a `pruned` entry lacks its minimum index");
      }
      pruned_below_ = std::max(pruned_below_, static_cast<std::uint64_t>(minimum->get_int64()));
    }
    if (name->get_string() == "erased") {
      const json::value* const selected = member(body, "selection", json::kind::object);
      Result<Selection> selection = Selection::from_json(selected ? *selected : json::value());
      if (!selection) return malformed("an `erased` entry does not say what it erased");
      erasures_.push_back({edge_.size(), std::move(*selection)});
    }
    if (name->get_string() != "key_rotated") return std::nullopt;
    const json::value* const before = member(body, "old", json::kind::string);
    const json::value* const after = member(body, "new", json::kind::string);
    const json::value* const compromised = member(body, "compromised", json::kind::bool_);
    const auto old_key = VerifierKey::parse(before == nullptr ? "" : before->get_string());
    const auto new_key = VerifierKey::parse(after == nullptr ? "" : after->get_string());
    if (!old_key || !new_key || compromised == nullptr || new_key->name != origin_) {
      return malformed("a `key_rotated` entry does not name both keys");
    }
    signers_.add({edge_.size(), *old_key, *new_key, compromised->get_bool()});
    return std::nullopt;
  }

  Found take_checkpoint(const json::object& object, std::string_view line) {
    const json::value* const text = member(object, "checkpoint", json::kind::string);
    const Result<Note> note = Note::parse(text == nullptr ? "" : text->get_string());
    const Result<Checkpoint> state =
        note ? Checkpoint::parse(note->text) : Result<Checkpoint>(std::unexpected(note.error()));
    if (!state) return malformed(state.error().message);
    if (object.size() != 1 || canonical_json(object) != line) {
      return malformed("a checkpoint stands alone in its line");
    }
    if (state->origin != origin_) {
      return at_checkpoint("checkpoint_signature",
                           fmt::format("the checkpoint is of `{:.100}`", state->origin));
    }
    if (state->size > edge_.size()) {
      return fault("missing_sequence", fmt::format("the checkpoint is of {} entries, {} are here",
                                                   state->size, edge_.size()));
    }
    if (state->size < edge_.size()) {
      return at_checkpoint("checkpoint_consistency",
                           fmt::format("a checkpoint of {} entries stands behind entry {}",
                                       state->size, edge_.size() - 1));
    }
    if (state->root != edge_.root()) {
      return at_checkpoint("root", fmt::format("entries {} to {} are not those that were signed",
                                               covered_, edge_.size() - 1));
    }
    return judge(*note);
  }

  Found judge(const Note& note) {
    constexpr std::size_t kMaxUnknown = 1024;
    last_is_checkpoint_ = true;
    switch (signers_.judge(note, edge_.size())) {
      case NoteTrust::Signed:
        covered_ = edge_.size();
        return std::nullopt;
      case NoteTrust::BadSignature:
        return at_checkpoint("checkpoint_signature", "the checkpoint's signature does not verify");
      case NoteTrust::NoSuchKey:
        break;
    }
    // The key may be one from before a rotation that comes later in this file.
    if (unknown_.size() == kMaxUnknown) {
      return at_checkpoint("checkpoint_signature", "too many checkpoints are signed by other keys");
    }
    unknown_.push_back({note, line_, covered_});
    return std::nullopt;
  }

  // A checkpoint covers all entries since the previous one, so it fails at the first of them.
  Found at_checkpoint(std::string_view check, std::string_view detail) const {
    Found found = fault(check, detail);
    found->sequence = covered_;
    return found;
  }

  std::string origin_;
  const CheckControl& control_;
  const CheckPasskeys& passkeys_;
  std::set<std::string> control_ids_;
  Found unauthorized_;  // the first entry that no authorized person signed
  std::uint64_t unjudged_ = 0;
  Signers signers_;
  Edge edge_;
  std::uint64_t line_ = 0;
  std::uint64_t covered_ = 0;  // entries under a checkpoint that is trusted
  bool last_is_checkpoint_ = false;
  std::vector<Unknown> unknown_;
  // Ids and topics are all that grows with the file. A tree, so that chosen ids cannot slow it
  // down.
  std::set<Uuid> ids_;
  std::map<std::string, TopicState> topics_;
  std::uint64_t pruned_ = 0;
  std::uint64_t pruned_end_ = 0;
  std::uint64_t pruned_below_ = 0;
  std::vector<Erasure> erasures_;
  bool lacks_openings_ = false;
};

// Reads the file again, because later erasures are only known at its end.
std::uint64_t count_missing(std::istream& in, const ExportCheck& check) {
  if (!check.lacks_openings()) return 0;
  in.clear();
  in.seekg(0);
  Lines lines(in);
  std::uint64_t count = 0;
  for (std::string line; lines.next(line);) count += check.missing_openings(line);
  return count;
}

}  // namespace

LedgerReport verify_export(std::istream& in, const VerifierKey& key, const CheckControl& control,
                           const CheckPasskeys& passkeys) {
  LedgerReport report{.origin = key.name};
  ExportCheck check(key, control, passkeys);
  Lines lines(in);
  std::string line;
  while (!report.first_bad && lines.next(line)) report.first_bad = check.take(line);
  report.tree_size = check.size();
  if (!report.first_bad && in.bad()) {
    report.first_bad = Fault{check.size(), "storage", "the file cannot be read to its end"};
  }
  if (!report.first_bad && !lines.fault.empty()) report.first_bad = check.refuse(lines.fault);
  if (!report.first_bad) report.first_bad = check.finish();
  report.first_bad = check.first_fault(std::move(report.first_bad));
  report.ok = !report.first_bad;
  report.unjudged = check.unjudged();
  if (report.ok) report.openings_missing = count_missing(in, check);
  return report;
}

}  // namespace sallyport::ledger
