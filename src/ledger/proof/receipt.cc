#include "ledger/proof/receipt.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "ledger/proof/cosigned.h"
#include "ledger/proof/tree.h"
#include "ledger/read/stored_entry.h"

namespace sallyport::ledger {

namespace {

constexpr std::string_view kSchema = "sallyport.receipt.v1";

std::unexpected<Error> malformed_receipt(std::string message) {
  return fail(ErrorCode::InvalidInput, std::move(message));
}

Result<std::uint64_t> number(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr || !value->is_int64() || value->get_int64() < 0) {
    return malformed_receipt(fmt::format("`{}` is not a whole number", name));
  }
  return static_cast<std::uint64_t>(value->get_int64());
}

Result<Proof> proof_from(const json::value* value) {
  if (value == nullptr || !value->is_array()) return malformed_receipt("`proof` is not a list");
  if (value->get_array().size() > kMaxProof) return malformed_receipt("more than 64 proof hashes");
  Proof proof;
  for (const json::value& item : value->get_array()) {
    const auto bytes = item.is_string() ? from_base64(item.get_string()) : std::nullopt;
    Hash hash;
    if (!bytes || bytes->size() != hash.size()) {
      return malformed_receipt("a proof hash is not the base64 of 32 bytes");
    }
    std::copy(bytes->begin(), bytes->end(), hash.begin());
    proof.push_back(hash);
  }
  return proof;
}

Result<void> check_members(const json::object& object) {
  constexpr std::string_view kMembers[] = {"schema", "entry",      "leaf_index", "tree_size",
                                           "proof",  "checkpoint", "openings"};
  for (const json::key_value_pair& member : object) {
    if (std::ranges::find(kMembers, std::string_view(member.key())) == std::end(kMembers)) {
      return malformed_receipt(
          fmt::format("unknown member `{:.40}`", std::string_view(member.key())));
    }
  }
  for (const std::string_view name : kMembers) {
    if (!object.contains(name)) return malformed_receipt(fmt::format("`{}` is missing", name));
  }
  if (object.at("schema") != json::value(kSchema)) {
    return malformed_receipt(fmt::format("unknown schema, expected `{}`", kSchema));
  }
  if (!object.at("checkpoint").is_string()) return malformed_receipt("`checkpoint` is not text");
  if (!object.at("openings").is_array()) return malformed_receipt("`openings` is not a list");
  return {};
}

}  // namespace

Result<Receipt> Receipt::parse(std::string_view text) {
  if (is_tlog_proof(text)) return parse_tlog_proof(text);
  SALLYPORT_TRY(const json::value document, parse_own_json(text));
  if (!document.is_object()) return malformed_receipt("a receipt is an object");
  const json::object& object = document.get_object();
  SALLYPORT_CHECK_OK(check_members(object));
  SALLYPORT_CHECK_OK(check_entry(object.at("entry")));
  Receipt receipt{.entry = canonical_json(object.at("entry"))};
  if (receipt.entry.size() > kMaxEntryBytes)
    return malformed_receipt("the entry is over 65,535 bytes");
  SALLYPORT_TRY(receipt.leaf_index, number(object, "leaf_index"));
  SALLYPORT_TRY(receipt.tree_size, number(object, "tree_size"));
  SALLYPORT_TRY(receipt.proof, proof_from(object.if_contains("proof")));
  receipt.checkpoint = object.at("checkpoint").get_string();
  for (const json::value& item : object.at("openings").get_array()) {
    SALLYPORT_TRY(Opening opening, opening_from_json(item));
    receipt.openings.push_back(std::move(opening));
  }
  return receipt;
}

std::string Receipt::json() const {
  std::string out = fmt::format(R"({{"schema":"{}","entry":)", kSchema);
  out += entry;
  out += fmt::format(R"(,"leaf_index":{},"tree_size":{},"proof":[)", leaf_index, tree_size);
  for (std::size_t i = 0; i < proof.size(); ++i) {
    out += i == 0 ? "\"" : ",\"";
    append_base64(out, proof[i]);
    out += '"';
  }
  out += R"(],"checkpoint":)";
  append_canonical_string(out, checkpoint);
  out += R"(,"openings":[)";
  for (std::size_t i = 0; i < openings.size(); ++i) {
    if (i > 0) out += ',';
    append_opening_json(out, openings[i]);
  }
  return out + "]}";
}

std::string Receipt::tlog_proof() const {
  std::string out = fmt::format("c2sp.org/tlog-proof@v1\nextra {}\nindex {}\n",
                                base64(as_bytes(entry)), leaf_index);
  for (const Hash& hash : proof) out += base64(hash) + "\n";
  return out + "\n" + checkpoint;
}

namespace {

bool is_key_rotation(std::string_view bytes) {
  // Looking before parsing: this is one entry in thousands.
  if (!bytes.contains(R"("control":"key_rotated")")) return false;
  const Result<json::value> entry = parse_own_json(bytes);
  const json::object* const object = entry ? entry->if_object() : nullptr;
  const json::object* const body = object == nullptr ? nullptr : object_in(*object, "body");
  return body != nullptr && text_in(*object, "kind") == "control" &&
         text_in(*body, "control") == "key_rotated";
}

// The newest checkpoint that witnesses cosigned, else the newest. For a rotation, the one that both
// keys signed: a reader who pinned the old key can check no later one (LE-27).
Result<StoredEntry> vouching_entry(ReadView& view, const StoredEntry& entry, std::uint64_t last) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  const bool rotates = is_key_rotation(*entry.bytes);
  std::uint64_t begin = rotates ? entry.sequence : size - 1;
  if (!rotates) {
    SALLYPORT_TRY(const std::optional<Cosigned> cosigned,
                  newest_cosigned(view, std::max(entry.sequence, last)));
    if (cosigned) begin = cosigned->size - 1;
  }
  std::optional<StoredEntry> found;
  SALLYPORT_CHECK_OK(view.scan(begin, size, [&](const StoredEntry& next) -> Result<bool> {
    if (!next.checkpoint.empty()) found = next;
    return !found.has_value();
  }));
  if (!found) return ledger_unavailable("corrupt", "the last entry carries no checkpoint");
  return *std::move(found);
}

// Refuses a proof that would fail: the error names the damage and its place.
Result<void> check_proves(const Receipt& receipt) {
  const Result<Note> note = Note::parse(receipt.checkpoint);
  const Result<Checkpoint> state =
      note ? Checkpoint::parse(note->text) : Result<Checkpoint>(std::unexpected(note.error()));
  const auto root = root_from_inclusion(receipt.leaf_index, receipt.tree_size,
                                        leaf_hash(receipt.entry), receipt.proof);
  if (state && state->size == receipt.tree_size && root == state->root) return {};
  return ledger_unavailable(
      "corrupt",
      fmt::format("entry {} is not the one that was signed; run `sallyport ledger verify`",
                  receipt.leaf_index));
}

}  // namespace

Result<Receipt> make_receipt(ReadView& view, std::uint64_t sequence, bool with_openings,
                             std::uint64_t last) {
  SALLYPORT_TRY(const std::optional<StoredEntry> stored, view.entry(sequence));
  if (!stored) return fail(ErrorCode::NotFound, fmt::format("there is no entry {}", sequence));
  if (!stored->bytes) {
    return fail(ErrorCode::NotFound, fmt::format("the bytes of entry {} were pruned", sequence));
  }
  SALLYPORT_TRY(const StoredEntry vouching, vouching_entry(view, *stored, last));
  Receipt receipt{
      .entry = *stored->bytes, .leaf_index = sequence, .tree_size = vouching.sequence + 1};
  SALLYPORT_TRY(receipt.checkpoint,
                with_cosignatures(view, receipt.tree_size, vouching.checkpoint));
  SALLYPORT_TRY(receipt.proof, inclusion_proof(sequence, receipt.tree_size, subtree_hash(view)));
  SALLYPORT_CHECK_OK(check_proves(receipt));
  if (!with_openings) return receipt;
  SALLYPORT_TRY(std::vector<Opening> openings, openings_of(*stored));
  for (Opening& opening : openings) {
    if (opening.state == OpeningState::Open) receipt.openings.push_back(std::move(opening));
  }
  return receipt;
}

}  // namespace sallyport::ledger
