// Sends one request to the console door of the `sallyport serve` on this data folder.
#pragma once

#include <filesystem>

#include "sallyport/json.h"
#include "workspace/workspace.h"

namespace sallyport::app {

// `Unavailable`: none runs there; `Unauthenticated`: it refuses, with the reason.
Result<json::object> ask_console_door(const std::filesystem::path& data_dir,
                                      const json::object& question);

// The origin of its checkpoints, which statements of people name.
Result<std::string> origin_of(Workspace& workspace);

}  // namespace sallyport::app
