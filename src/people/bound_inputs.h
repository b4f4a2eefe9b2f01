// Decrypts the inputs of waiting calls in a data folder that is only read.
#pragma once

#include "core/approval/bound_input.h"
#include "workspace/workspace.h"

namespace sallyport::app {

// `workspace` must outlive it.
core::Decrypt decrypt_with(Workspace& workspace);

}  // namespace sallyport::app
