// `guard stream --channels`: a dry run over the channels of one message (GR-54, GR-55).
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"

namespace sallyport::app {

struct GuardStreamOptions {
  std::string config;
  std::optional<std::string> delta;
  std::optional<std::string> splits;
  std::string stage = "output";
  std::optional<std::string> tool;
  std::optional<std::string> text_file;
  bool channels = false;  // the input is a message: a line of JSON for each delta
};
Result<int> guard_message(const Context& context, const GuardStreamOptions& options);

}  // namespace sallyport::app
