// `sallyport setup`: a service of this machine, under an account of its own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "workspace/context.h"

namespace sallyport::app {

struct SetupOptions {
  bool system = false;
  bool undo = false;
  bool purge = false;
  bool dry_run = false;
  std::string user = "sallyport";
  std::optional<std::filesystem::path> root;
};
Result<int> setup(const Context& context, const SetupOptions& options);

}  // namespace sallyport::app
