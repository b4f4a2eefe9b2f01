// A dry run of all guards of results of a policy.
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"

namespace sallyport::app {

struct GuardCheckOptions {
  std::string config;
  std::string stage;
  std::optional<std::string> policy;  // instead of both: its guards of results (PI-20)
  std::optional<std::string> tool;
  std::optional<std::string> text_file;
  std::optional<std::string> skip;
};
// The guards know the name of the tool and nothing else.
Result<int> guard_check_result(const Context& context, const GuardCheckOptions& options);

}  // namespace sallyport::app
