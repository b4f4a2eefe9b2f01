#include <fmt/format.h>

#include "base/encoding.h"
#include "base/try.h"
#include "ledger/export.h"
#include "ledger/opening_check.h"

namespace sallyport::ledger {

namespace {

std::string pruned_line(const StoredEntry& stored) {
  return fmt::format(R"({{"leaf":"{}","sequence":{}}})", base64(stored.leaf), stored.sequence);
}

Result<std::string> entry_line(const StoredEntry& stored) {
  if (!stored.bytes) return pruned_line(stored);
  SALLYPORT_CHECK_OK(check_leaf(stored));
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

std::string checkpoint_line(const StoredEntry& stored) {
  std::string line = R"({"checkpoint":)";
  append_canonical_string(line, stored.checkpoint);
  return line + "}";
}

bool is_rotation(const StoredEntry& stored) {
  return stored.bytes && stored.bytes->find(R"("control":"key_rotated")") != std::string::npos;
}

}  // namespace

Result<std::string> sealed_line(const StoredEntry& stored) {
  if (!stored.bytes) return pruned_line(stored);
  SALLYPORT_CHECK_OK(check_leaf(stored));
  return R"({"entry":)" + *stored.bytes + R"(,"openings":[]})";
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
