// Starts the program of an entry.
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

  // Checks the program again, and starts it.
  Result<std::unique_ptr<Child>> start(std::vector<std::string> call_workspaces) const;
  // Logs the problem with the first line of the program's standard error, without the values of
  // named variables.
  void log_failure(std::string_view problem, std::string_view errors) const;
};

// Removes the values of the entry's variables from a text.
std::string without_secrets(const Entry& entry, const Host& host, std::string text);

}  // namespace sallyport::external
