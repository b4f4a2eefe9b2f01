// `sallyport serve`: the daemon.
#pragma once

#include <optional>
#include <string>

#include "workspace/context.h"

namespace sallyport::app {

struct ServeOptions {
  std::optional<std::string> policy;  // instead of the one in the configuration
  std::string log = "text";           // or `json`
};
// Runs until a signal ends it. The exit code.
Result<int> serve(const Context& context, const ServeOptions& options);

}  // namespace sallyport::app
