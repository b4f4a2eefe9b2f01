// `sallyport init`: puts the gate into the settings of an agent or a client.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "workspace/context.h"

namespace sallyport::app {

struct InitOptions {
  std::optional<std::string> agent;
  std::optional<std::string> client;
  std::optional<std::filesystem::path> file;
  std::optional<std::string> policy;
  bool print = false;
  bool undo = false;
  bool dry_run = false;
};
Result<int> init(const Context& context, const InitOptions& options);

}  // namespace sallyport::app
