// Tiles of a log one at a time, as a server of tlog-tiles hands them out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ledger/store.h"

namespace sallyport::ledger {

// The content of a path of `tile_path`, as far as the log reaches, without openings. No value: there
// is no such tile, its name does not have that form, or an entry in it was pruned.
Result<std::optional<std::string>> read_tile(ReadView& view, std::string_view path);

}  // namespace sallyport::ledger
