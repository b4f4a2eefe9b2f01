#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>

#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "ledger/proof/receipt.h"

namespace sallyport::ledger {

namespace {

// One failed step. Success goes on to the next.
struct Failure {
  std::string_view step;
  std::string detail;
};
using Step = std::optional<Failure>;

// The pinned key and the keys to which it passed its trust. They all have one name.
using Keys = std::vector<VerifierKey>;

// One key is enough, but a line by any of them that does not verify is bad (LE-36).
NoteTrust verify_note(const Note& note, const Keys& keys) {
  NoteTrust trust = NoteTrust::NoSuchKey;
  for (const VerifierKey& key : keys) {
    const NoteTrust verified = ledger::verify_note(note, key);
    if (verified == NoteTrust::BadSignature) return verified;
    if (verified == NoteTrust::Signed) trust = verified;
  }
  return trust;
}

// The requirements on a trusted checkpoint.
struct Wanted {
  const Keys& keys;
  const std::optional<std::string>& origin;
  const std::optional<WitnessPolicy>& policy;
};

// The trusted checkpoint of a note: steps key, signature, origin, quorum.
Step read_checkpoint(std::string_view bytes, const Wanted& wanted, Checkpoint& out) {
  const Result<Note> note = Note::parse(bytes);
  if (!note) return Failure{"form", "checkpoint: " + note.error().message};
  const Result<Checkpoint> checkpoint = Checkpoint::parse(note->text);
  if (!checkpoint) return Failure{"form", "checkpoint: " + checkpoint.error().message};
  const VerifierKey& key = wanted.keys.back();
  switch (verify_note(*note, wanted.keys)) {
    case NoteTrust::NoSuchKey:
      return Failure{"key",
                     fmt::format("no signature by `{}` with key id {}", key.name, hex(key.id))};
    case NoteTrust::BadSignature:
      return Failure{"signature", fmt::format("the signature by `{}` does not verify", key.name)};
    case NoteTrust::Signed:
      break;
  }
  const std::string& origin = wanted.origin ? *wanted.origin : key.name;
  if (checkpoint->origin != origin) {
    return Failure{"origin", fmt::format("the checkpoint is of `{:.200}`, expected `{}`",
                                         checkpoint->origin, origin)};
  }
  if (wanted.policy) {
    const auto quorum = require_quorum(*note, *wanted.policy);
    if (!quorum) return Failure{"quorum", quorum.error().message};
  }
  out = *checkpoint;
  return std::nullopt;
}

Step check_entry_in(const Receipt& receipt, const Checkpoint& checkpoint,
                    const json::value& entry) {
  if (receipt.tree_size != checkpoint.size) {
    return Failure{"size", fmt::format("tree_size is {}, the checkpoint says {}", receipt.tree_size,
                                       checkpoint.size)};
  }
  const auto sequence = static_cast<std::uint64_t>(entry.at("sequence").as_int64());
  if (receipt.leaf_index != sequence || sequence >= checkpoint.size) {
    return Failure{"position", fmt::format("leaf_index {}, sequence {} and tree_size {} do not fit",
                                           receipt.leaf_index, sequence, checkpoint.size)};
  }
  const std::optional<Hash> root = root_from_inclusion(receipt.leaf_index, checkpoint.size,
                                                       leaf_hash(receipt.entry), receipt.proof);
  if (!root || *root != checkpoint.root) {
    return Failure{"inclusion", "the proof does not lead from this entry to the signed root"};
  }
  for (const Opening& opening : receipt.openings) {
    if (Result<void> ok = check_opening(entry, opening); !ok) {
      return Failure{"opening", fmt::format("{} at `{}`", ok.error().message, opening.path)};
    }
  }
  if (Result<void> ok = check_meaning(entry); !ok) return Failure{"meaning", ok.error().message};
  return std::nullopt;
}

Verification verify_with_keys(std::string_view text, const Wanted& wanted) {
  Verification answer;
  const auto failed = [&](const Failure& failure) {
    answer.step = failure.step;
    answer.detail = failure.detail;
    return answer;
  };
  const Result<Receipt> receipt = Receipt::parse(text);
  if (!receipt) {
    const std::string& where = receipt.error().where;
    return failed({"form", receipt.error().message + (where.empty() ? "" : " at " + where)});
  }
  const Result<json::value> entry = parse_own_json(receipt->entry);
  if (!entry) return failed({"form", entry.error().message});
  Checkpoint checkpoint;
  if (const Step step = read_checkpoint(receipt->checkpoint, wanted, checkpoint)) {
    return failed(*step);
  }
  answer.origin = checkpoint.origin;
  answer.sequence = static_cast<std::uint64_t>(entry->at("sequence").as_int64());
  answer.recorded_at = entry->at("recorded_at").as_string();
  answer.kind = entry->at("kind").as_string();
  if (const Step step = check_entry_in(*receipt, checkpoint, *entry)) return failed(*step);
  answer.ok = true;
  answer.step = "meaning";
  answer.detail = "every step passed";
  return answer;
}

// A rotation that the pinned key signed passes on its trust, unless it was made as compromised
// (LE-27).
Result<VerifierKey> follow_rotation(std::string_view text, const VerifierKey& key,
                                    const std::optional<std::string>& origin) {
  // The signature of the old key counts here: no witness knows which key may follow it.
  const Keys pinned = {key};
  const std::optional<WitnessPolicy> none;
  const Verification rotation = verify_with_keys(text, {pinned, origin, none});
  if (!rotation.ok) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("rotation receipt: {}: {}", rotation.step, rotation.detail));
  }
  SALLYPORT_TRY(const Receipt receipt, Receipt::parse(text));
  SALLYPORT_TRY(const json::value entry, parse_own_json(receipt.entry));
  const json::object& body = entry.at("body").get_object();
  const auto after = text_in(body, "new");
  if (rotation.kind != "control" || text_in(body, "control") != "key_rotated" ||
      text_in(body, "old") != key.text() || !after) {
    return fail(ErrorCode::InvalidInput, "the rotation receipt is not about the pinned key");
  }
  if (bool_in(body, "compromised") != false) {
    return fail(ErrorCode::InvalidInput,
                "the old key was compromised when it was rotated: pin the new key by another way");
  }
  SALLYPORT_TRY(VerifierKey next, VerifierKey::parse(*after));
  // The name is the origin, which never changes (LE-23).
  if (next.name != key.name) {
    return fail(ErrorCode::InvalidInput, "the rotation leads to a key of another name");
  }
  return next;
}

Result<Keys> trusted_keys(const Trust& trust) {
  Keys keys = {trust.key};
  for (const std::string& rotation : trust.rotations) {
    SALLYPORT_TRY(VerifierKey next, follow_rotation(rotation, keys.back(), trust.origin));
    keys.push_back(std::move(next));
  }
  return keys;
}

struct ConsistencyText {
  std::uint64_t old_size = 0;
  std::uint64_t new_size = 0;
  Proof proof;
};

Result<ConsistencyText> parse_consistency(std::string_view text) {
  constexpr std::string_view kFirst = "sallyport/consistency-proof/v1\n";
  const auto malformed = [](std::string message) {
    return fail(ErrorCode::InvalidInput, std::move(message));
  };
  if (text.size() > 16 * 1024 || !text.starts_with(kFirst)) {
    return malformed("not a consistency proof of `ledger proof`");
  }
  text.remove_prefix(kFirst.size());
  ConsistencyText parsed;
  const auto line = [&text]() -> std::optional<std::string_view> {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(end + 1);
    return taken;
  };
  for (std::uint64_t* const size : {&parsed.old_size, &parsed.new_size}) {
    const auto digits = line();
    if (!digits) return malformed("a size is missing");
    const auto read = std::from_chars(digits->data(), digits->data() + digits->size(), *size);
    if (read.ec != std::errc{} || std::to_string(*size) != *digits)
      return malformed("a size is not a number");
  }
  while (!text.empty()) {
    const auto encoded = line();
    const auto bytes = encoded ? from_base64(*encoded) : std::nullopt;
    Hash hash;
    if (!bytes || bytes->size() != hash.size())
      return malformed("a hash is not the base64 of 32 bytes");
    std::copy(bytes->begin(), bytes->end(), hash.begin());
    parsed.proof.push_back(hash);
    if (parsed.proof.size() > 64) return malformed("more than 64 proof hashes");
  }
  return parsed;
}

}  // namespace

json::object Verification::to_json() const {
  return {{"ok", ok},         {"step", step},         {"detail", detail},
          {"origin", origin}, {"sequence", sequence}, {"recorded_at", recorded_at},
          {"kind", kind}};
}

Verification verify_receipt(std::string_view text, const Trust& trust) {
  const Result<Keys> keys = trusted_keys(trust);
  if (!keys) return {.step = "key", .detail = keys.error().message};
  return verify_with_keys(text, {*keys, trust.origin, trust.policy});
}

std::string consistency_text(std::uint64_t old_size, std::uint64_t new_size, const Proof& proof) {
  std::string out = fmt::format("sallyport/consistency-proof/v1\n{}\n{}\n", old_size, new_size);
  for (const Hash& hash : proof) out += base64(hash) + "\n";
  return out;
}

Verification verify_consistency(std::string_view old_note, std::string_view new_note,
                                std::string_view proof, const Trust& trust) {
  Verification answer;
  const auto failed = [&](std::string_view step, std::string detail) {
    answer.step = step;
    answer.detail = std::move(detail);
    return answer;
  };
  const Result<ConsistencyText> text = parse_consistency(proof);
  if (!text) return failed("form", text.error().message);
  const Result<Keys> keys = trusted_keys(trust);
  if (!keys) return failed("key", keys.error().message);
  const Wanted wanted{*keys, trust.origin, trust.policy};
  Checkpoint older;
  Checkpoint newer;
  if (const Step step = read_checkpoint(old_note, wanted, older)) {
    return failed(step->step, "old: " + step->detail);
  }
  if (const Step step = read_checkpoint(new_note, wanted, newer)) {
    return failed(step->step, "new: " + step->detail);
  }
  answer.origin = newer.origin;
  answer.sequence = newer.size;
  if (older.size != text->old_size || newer.size != text->new_size) {
    return failed("size",
                  fmt::format("the proof is from {} to {}, the checkpoints are of {} and {}",
                              text->old_size, text->new_size, older.size, newer.size));
  }
  if (!consistent(older.size, older.root, newer.size, newer.root, text->proof)) {
    return failed("inclusion", "the new tree does not begin with the old one");
  }
  answer.ok = true;
  answer.step = "inclusion";
  answer.detail = "the new tree begins with the old one";
  return answer;
}

}  // namespace sallyport::ledger
