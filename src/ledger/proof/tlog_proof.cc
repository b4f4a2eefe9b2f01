// c2sp.org/tlog-proof@v1: a receipt in the words of other logs. It has no openings, and its tree
// size is that of its checkpoint.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>

#include "base/encoding.h"
#include "base/try.h"
#include "ledger/proof/receipt.h"

namespace sallyport::ledger {

namespace {

constexpr std::string_view kFirstLine = "c2sp.org/tlog-proof@v1\n";

std::unexpected<Error> not_a_proof(std::string message) {
  return fail(ErrorCode::InvalidInput, "tlog-proof: " + std::move(message));
}

// Takes the next line, without its LF, from `rest`.
Result<std::string_view> proof_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) return not_a_proof("it ends in the middle of a line");
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

Result<std::string> entry_from(std::string_view line) {
  constexpr std::string_view kExtra = "extra ";
  const auto bytes = line.starts_with(kExtra) ? from_base64(line.substr(kExtra.size()))
                                              : std::optional<std::string>{};
  if (!bytes) return not_a_proof("the second line is not `extra` and the base64 of the entry");
  if (bytes->size() > kMaxEntryBytes) return not_a_proof("the entry is over 65,535 bytes");
  SALLYPORT_TRY(const json::value entry, parse_own_json(*bytes));
  SALLYPORT_CHECK_OK(check_entry(entry));
  if (canonical_json(entry) != *bytes) return not_a_proof("the entry is not canonical JSON");
  return *bytes;
}

Result<std::uint64_t> index_from(std::string_view line) {
  constexpr std::string_view kIndex = "index ";
  std::uint64_t index = 0;
  if (line.starts_with(kIndex)) {
    line.remove_prefix(kIndex.size());
    const auto read = std::from_chars(line.data(), line.data() + line.size(), index);
    if (read.ec == std::errc{} && std::to_string(index) == line) return index;
  }
  return not_a_proof("the third line is not `index` and a number");
}

Result<Hash> hash_from(std::string_view line) {
  const auto bytes = from_base64(line);
  Hash hash;
  if (!bytes || bytes->size() != hash.size()) {
    return not_a_proof("a proof hash is not the base64 of 32 bytes");
  }
  std::copy(bytes->begin(), bytes->end(), hash.begin());
  return hash;
}

}  // namespace

bool is_tlog_proof(std::string_view text) {
  return text.starts_with(kFirstLine);
}

Result<Receipt> parse_tlog_proof(std::string_view text) {
  constexpr std::size_t kMost = 16u << 20;
  if (text.size() > kMost) return not_a_proof("it is over 16 MiB");
  text.remove_prefix(kFirstLine.size());
  Receipt receipt;
  SALLYPORT_TRY(const std::string_view extra, proof_line(text));
  SALLYPORT_TRY(receipt.entry, entry_from(extra));
  SALLYPORT_TRY(const std::string_view index, proof_line(text));
  SALLYPORT_TRY(receipt.leaf_index, index_from(index));
  while (true) {
    SALLYPORT_TRY(const std::string_view line, proof_line(text));
    if (line.empty()) break;
    if (receipt.proof.size() == kMaxProof) return not_a_proof("more than 64 proof hashes");
    SALLYPORT_TRY(const Hash hash, hash_from(line));
    receipt.proof.push_back(hash);
  }
  receipt.checkpoint = text;
  SALLYPORT_TRY(const Note note, Note::parse(text));
  SALLYPORT_TRY(const Checkpoint state, Checkpoint::parse(note.text));
  receipt.tree_size = state.size;
  return receipt;
}

}  // namespace sallyport::ledger
