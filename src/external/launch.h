// What it takes to start the program of an entry.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "external/child.h"
#include "external/entry.h"
#include "external/host.h"

namespace sallyport::external {

// Shared with abandoned work.
struct Launch {
  Entry entry;
  std::shared_ptr<Host> host;           // outlived by abandoned work
  std::vector<std::string> workspaces;  // of the policy

  // Looks at the program again, and starts it.
  Result<std::unique_ptr<Child>> start(std::vector<std::string> call_workspaces) const;
  // Says in the log what happened, with the first line that the program wrote to its standard
  // error. Values of named variables are taken out.
  void log_failure(std::string_view what, std::string_view errors) const;
};

// Takes the values of the variables out of a text.
std::string without_secrets(const Entry& entry, const Host& host, std::string text);

}  // namespace sallyport::external
