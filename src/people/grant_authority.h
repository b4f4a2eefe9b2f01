// The key that issues grants: one per data folder, and not the one that signs the ledger (CG-57).
#pragma once

#include <optional>

#include "grants/signer.h"
#include "workspace/workspace.h"

namespace sallyport::app {

// Made on first use, mode 0600.
Result<grants::Signer> grant_authority(Workspace& workspace);

// No value: no grant was issued yet.
Result<std::optional<grants::Signer>> existing_grant_authority(
    const std::filesystem::path& data_dir);

}  // namespace sallyport::app
