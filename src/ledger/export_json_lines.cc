#include <fmt/format.h>

#include "base/encoding.h"
#include "base/try.h"
#include "ledger/export.h"

namespace sallyport::ledger {

namespace {

Result<std::string> entry_line(const StoredEntry& stored) {
  if (!stored.bytes) {
    return fmt::format(R"({{"leaf":"{}","sequence":{}}})", base64(stored.leaf), stored.sequence);
  }
  SALLYPORT_TRY(const std::vector<Opening> openings, unpack_openings(stored.openings));
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

}  // namespace

Result<void> export_json_lines(ReadView& view, std::optional<std::uint64_t> after,
                               const Line& line) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  if (size == 0) return fail(ErrorCode::NotFound, "the ledger has no entries yet");
  const std::uint64_t begin = !after ? 0 : *after < size ? *after + 1 : size;
  SALLYPORT_CHECK_OK(view.scan(begin, size, [&](const StoredEntry& stored) -> Result<bool> {
    SALLYPORT_TRY(const std::string text, entry_line(stored));
    SALLYPORT_CHECK_OK(line(text));
    return true;
  }));
  SALLYPORT_TRY(const std::optional<StoredEntry> last, view.entry(size - 1));
  std::string checkpoint = R"({"checkpoint":)";
  append_canonical_string(checkpoint, last->checkpoint);
  return line(checkpoint + "}");
}

}  // namespace sallyport::ledger
