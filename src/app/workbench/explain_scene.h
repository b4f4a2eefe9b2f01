// What a command explains calls with: the ledger and the data folder that its options name.
#pragma once

#include "app/context.h"
#include "app/workbench/explaining.h"

namespace sallyport::app {

// `store`: null where there is no ledger. The context outlives the scene.
ExplainScene scene_of(const Context& context, ledger::LedgerStore* store);

}  // namespace sallyport::app
