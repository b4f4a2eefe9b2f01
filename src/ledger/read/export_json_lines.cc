#include <fmt/format.h>

#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "ledger/read/export.h"
#include "ledger/read/stored_entry.h"

namespace sallyport::ledger {

namespace {

std::string pruned_line(const StoredEntry& stored) {
  return fmt::format(R"({{"leaf":"{}","sequence":{}}})", base64(stored.leaf), stored.sequence);
}

Result<std::string> opened_line(const StoredEntry& stored) {
  SALLYPORT_TRY(const std::vector<Opening> openings, openings_of(stored));
  // The signed bytes themselves: rendering them anew would only be a chance to differ.
  std::string line = R"({"entry":)" + *stored.bytes + R"(,"openings":[)";
  for (const Opening& opening : openings) {
    if (opening.state != OpeningState::Open) continue;
    const std::size_t before = line.size();
    if (line.back() != '[') line += ',';
    append_opening_json(line, opening);
    if (line.size() + 2 > kMaxExportLine) line.resize(before);
  }
  return line + "]}";
}

Result<std::string> entry_line(const StoredEntry& stored) {
  if (!stored.bytes) return pruned_line(stored);
  SALLYPORT_CHECK_OK(check_leaf(stored));
  return opened_line(stored);
}

std::string bare_line(const StoredEntry& stored) {
  return R"({"entry":)" + *stored.bytes + R"(,"openings":[]})";
}

std::string checkpoint_line(const StoredEntry& stored) {
  std::string line = R"({"checkpoint":)";
  append_canonical_string(line, stored.checkpoint);
  return line + "}";
}

bool is_rotation(const StoredEntry& stored) {
  // Few entries have this text, so few are read.
  if (!stored.bytes || !stored.bytes->contains(R"("control":"key_rotated")")) return false;
  const Result<json::value> entry = parse_own_json(*stored.bytes);
  const json::object* const members = entry ? entry->if_object() : nullptr;
  const json::object* const body = members != nullptr ? object_in(*members, "body") : nullptr;
  return body != nullptr && text_or_empty(*members, "kind") == "control" &&
         text_or_empty(*body, "control") == "key_rotated";
}

}  // namespace

Result<std::string> sealed_line(const StoredEntry& stored) {
  if (!stored.bytes) return pruned_line(stored);
  SALLYPORT_CHECK_OK(check_leaf(stored));
  return bare_line(stored);
}

Result<void> export_part(ReadView& view, const ExportPart& part, const Line& line) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  if (size == 0) return fail(ErrorCode::NotFound, "the ledger has no entries yet");
  const std::uint64_t begin = !part.after ? 0 : *part.after < size ? *part.after + 1 : size;
  std::uint64_t entries = 0;
  std::size_t bytes = 0;
  bool rotated = false;
  std::string last;
  SALLYPORT_CHECK_OK(view.scan(begin, size, [&](const StoredEntry& stored) -> Result<bool> {
    std::string text = stored.bytes ? bare_line(stored) : pruned_line(stored);
    if (stored.bytes && part.with_openings) {
      if (Result<std::string> opened = opened_line(stored)) text = std::move(*opened);
    }
    SALLYPORT_CHECK_OK(line(text));
    bytes += text.size();
    ++entries;
    rotated = rotated || is_rotation(stored);
    if (stored.checkpoint.empty()) return true;
    last = checkpoint_line(stored);
    // Both keys signed only this checkpoint, so the part of a rotation ends here.
    return !rotated && entries < part.entries && bytes < part.bytes;
  }));
  if (last.empty()) {
    SALLYPORT_TRY(const std::optional<StoredEntry> newest, view.entry(size - 1));
    last = checkpoint_line(*newest);
  }
  return line(last);
}

Result<void> export_json_lines(ReadView& view, std::optional<std::uint64_t> after,
                               const Line& line) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  if (size == 0) return fail(ErrorCode::NotFound, "the ledger has no entries yet");
  const std::uint64_t begin = !after ? 0 : *after < size ? *after + 1 : size;
  bool rotated = false;
  SALLYPORT_CHECK_OK(view.scan(begin, size, [&](const StoredEntry& stored) -> Result<bool> {
    SALLYPORT_TRY(const std::string text, entry_line(stored));
    SALLYPORT_CHECK_OK(line(text));
    rotated = rotated || is_rotation(stored);
    // Both keys signed only this checkpoint. It leads a reader who pinned the old key to the new
    // one.
    if (rotated && !stored.checkpoint.empty() && stored.sequence + 1 < size) {
      rotated = false;
      SALLYPORT_CHECK_OK(line(checkpoint_line(stored)));
    }
    return true;
  }));
  SALLYPORT_TRY(const std::optional<StoredEntry> last, view.entry(size - 1));
  return line(checkpoint_line(*last));
}

}  // namespace sallyport::ledger
