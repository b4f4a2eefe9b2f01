// The file that names witnesses: of the configuration (`ledger.witnesses`), and of `verify
// --policy`.
#pragma once

#include <filesystem>

#include "ledger/proof/witness_policy.h"

namespace sallyport::app {

// `NotFound` when there is no such file, `InvalidInput` with file and line for one that is wrong.
Result<ledger::WitnessPolicy> load_witness_policy(const std::filesystem::path& file);

}  // namespace sallyport::app
