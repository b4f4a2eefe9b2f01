// The inputs of an explanation: the ledger and the data folder that the options of a command name.
#pragma once

#include "workbench/explaining.h"
#include "workspace/context.h"

namespace sallyport::app {

// `store`: null where there is no ledger. The context outlives the scene.
ExplainScene scene_of(const Context& context, ledger::LedgerStore* store);

}  // namespace sallyport::app
