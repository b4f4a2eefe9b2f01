// A ledger in forms that others read. The same range always gives the same bytes (LE-67).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "ledger/read/query.h"
#include "ledger/store.h"

namespace sallyport::ledger {

using Line = std::function<Result<void>(std::string_view)>;  // without its LF

// The longest line of a JSON Lines export, and the longest that is read back (LE-78).
inline constexpr std::size_t kMaxExportLine = 16u << 20;

// One `{"entry":..,"openings":[..]}` per entry above `after`, then the newest checkpoint as
// `{"checkpoint":..}` (LE-64); one more follows each commit that rotated the key. Parts of one
// ledger, each taken after the last sequence of the one before, verify when they are concatenated.
// Entries whose bytes were pruned appear as `{"leaf":base64,"sequence":N}`, so that the root can
// still be checked. Only open openings are shown. Those that would make a line longer than
// `kMaxExportLine` are left out; the entry stays valid (LE-37). `NotFound`: there is no entry yet,
// and so no checkpoint.
Result<void> export_json_lines(ReadView& view, std::optional<std::uint64_t> after,
                               const Line& line);

// The same in parts, for readers that take a bounded amount at a time.
struct ExportPart {
  std::optional<std::uint64_t> after{};
  // A part ends behind the commit that reaches either number.
  std::uint64_t entries = 0;
  std::size_t bytes = 0;
  bool with_openings = false;
};
// Ends with the checkpoint of its last commit. Entries are given as they are stored, so that a
// check of the part finds a bad one. `NotFound`: there is no entry yet.
Result<void> export_part(ReadView& view, const ExportPart& part, const Line& line);

// The line of one entry without openings: sealed content stays sealed.
Result<std::string> sealed_line(const StoredEntry& stored);

// ArcSight Common Event Format, one event a line (LE-66). `with_openings` adds `msg`: the body with
// its open values as canonical JSON, cut at 1,023 bytes, which is what the format allows.
Result<void> export_cef(ReadView& view, const Filter& filter, std::string_view version,
                        bool with_openings, const Line& line);

// One entry that is not pruned, without its openings.
Result<std::string> cef_line(const StoredEntry& stored, std::string_view version);

// The same as an event of OCSF 1.1, as JSON: a call is API Activity (6003), a control entry is
// Application Lifecycle (6002), everything else is a base event (0).
Result<std::string> ocsf_line(const StoredEntry& stored, std::string_view version);

// The path of the `number`th tile of a level, or of `entries`: `tile/0/x001/x234/067` for 1234067,
// with `.p/<width>` when it is narrower than 256.
std::string tile_path(std::string_view level, std::uint64_t number, std::uint64_t width);

// tlog-tiles in a folder (LE-65). Writes what a reader of the newest checkpoint needs: full tiles
// that an earlier export of this ledger left there stay as they are, `checkpoint` is written last.
// Bundles that pruning has touched are left out. Nothing sealed is in any file.
// `Conflict`: the folder holds another log, or a later state of this one. `NotFound`: no entry yet.
Result<void> export_tiles(ReadView& view, const std::filesystem::path& folder);

}  // namespace sallyport::ledger
