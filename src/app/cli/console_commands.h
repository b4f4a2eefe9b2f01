// `sallyport console`.
#pragma once

#include <optional>
#include <string>

#include "app/cli/login_options.h"
#include "app/context.h"

namespace sallyport::app {

struct ConsoleOptions {
  std::optional<std::string> as;  // a reviewer with a key; no value: read access only
  bool open = false;              // in a browser
  LoginOptions login{};
};
Result<int> console_link(const Context& context, const ConsoleOptions& options);

}  // namespace sallyport::app
