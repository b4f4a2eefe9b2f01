// One question to the console of the `sallyport serve` that runs on a data folder.
#pragma once

#include <filesystem>

#include "app/workspace.h"
#include "sallyport/json.h"

namespace sallyport::app {

// `Unavailable`: none runs there; `Unauthenticated`: it says no, and why.
Result<json::object> ask_daemon(const std::filesystem::path& data_dir,
                                const json::object& question);

// The origin of its checkpoints, which statements of people name.
Result<std::string> origin_of(Workspace& workspace);

}  // namespace sallyport::app
