// A ledger in forms that others read. The same range always gives the same bytes (LE-67).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "ledger/query.h"
#include "ledger/store.h"

namespace sallyport::ledger {

using Line = std::function<Result<void>(std::string_view)>;  // without its LF

// One `{"entry":..,"openings":[..]}` per entry and `{"checkpoint":..}` last (LE-64). Entries whose
// bytes were pruned stand as `{"leaf":base64,"sequence":N}`, so that the root can still be checked.
Result<void> export_json_lines(ReadView& view, std::optional<std::uint64_t> after, const Line& line);

// ArcSight Common Event Format, one event a line (LE-66).
Result<void> export_cef(ReadView& view, const Filter& filter, std::string_view version,
                        bool with_openings, const Line& line);

// tlog-tiles in a folder (LE-65). Writes what a reader of the newest checkpoint needs; full tiles
// that are there already are left alone, `checkpoint` is written last.
Result<void> export_tiles(ReadView& view, const std::filesystem::path& folder);

}  // namespace sallyport::ledger
